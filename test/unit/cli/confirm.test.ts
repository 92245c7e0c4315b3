import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it, jest } from "@jest/globals";
import { confirm } from "../../../cli/confirm.ts";

const question = "Revoke key_1 in production?";

/** A terminal with what is typed. Without any text that is Ctrl-D, which ends the input. */
const typing = (typed: string, isTTY = true) => {
  const input = Object.assign(new PassThrough(), { isTTY });
  if (typed) input.write(typed);
  else input.end();
  return input;
};

/** Asks the question and returns what it prints. */
async function ask(typed: string, isTTY = true): Promise<string> {
  const input = typing(typed, isTTY);
  const output = new PassThrough();
  await confirm(question, input, output);
  expect(input.isPaused()).toBe(true); // else it would keep the process running
  return text(output.end());
}

it.each(["y\n", " YES \n"])("takes %j as a confirmation", async (typed) => {
  expect(await ask(typed)).toContain(`${question} [y/N] `);
});

it("asks on standard error, so that standard output holds only the result", async () => {
  const written = [process.stderr, process.stdout].map((stream) =>
    jest.spyOn(stream, "write").mockImplementation(() => true),
  );
  await confirm(question, typing("y\n")).finally(jest.restoreAllMocks);
  expect(written.map(({ mock }) => mock.calls.join().includes(question))).toEqual([true, false]);
});

it.each(["\n", "n\n", "yep\n", "ny\n", "", "\ny\n"])("takes %j as a refusal", async (typed) => {
  await expect(ask(typed)).rejects.toThrow("Nothing was changed.");
});

it("refuses if there is no terminal", async () => {
  await expect(ask("y\n", false)).rejects.toThrow(`${question} Add --yes to confirm it without a terminal.`);
});
