import { PassThrough } from "node:stream";
import { expect, it } from "@jest/globals";
import { confirm } from "../../cli/confirm.ts";
import type { World } from "../../cli/run-program.ts";

const question = "Revoke key_1 in production?";

/** Returns what standard error gets when this is typed. Nothing typed is Ctrl-D, which ends the input. */
async function ask(typed: string, isTTY = true): Promise<string> {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  if (typed) stdin.write(typed);
  else stdin.end();
  const stderr = new PassThrough();
  await confirm({ stdin, stderr } as unknown as World, question);
  expect(stdin.isPaused()).toBe(true); // else it would keep the process running
  return String(stderr.read());
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
