import { PassThrough } from "node:stream";
import { afterEach, expect, it, jest } from "@jest/globals";
import { confirm } from "../../cli/confirm.ts";

const question = "Revoke key_1 in production?";
afterEach(() => void jest.restoreAllMocks());

/** Returns what standard error gets when this is typed. Nothing typed is Ctrl-D, which ends the input. */
async function ask(typed: string, isTTY = true): Promise<string> {
  const input = Object.assign(new PassThrough(), { isTTY });
  if (typed) input.write(typed);
  else input.end();
  const output = new PassThrough();
  jest.spyOn(process, "stdin", "get").mockReturnValue(input as never);
  jest.spyOn(process, "stderr", "get").mockReturnValue(output as never);
  await confirm(question);
  expect(input.isPaused()).toBe(true); // else it would keep the process running
  return String(output.read());
}

it.each(["y\n", " YES \n"])("takes %j as a confirmation, and asks on standard error", async (typed) => {
  expect(await ask(typed)).toContain(`${question} [y/N] `);
});

it.each(["\n", "n\n", "yep\n", "ny\n", "", "\ny\n"])("takes %j as a refusal", async (typed) => {
  await expect(ask(typed)).rejects.toThrow("Nothing was changed.");
});

it("refuses if there is no terminal", async () => {
  await expect(ask("y\n", false)).rejects.toThrow(`${question} Add --yes to confirm it without a terminal.`);
});
