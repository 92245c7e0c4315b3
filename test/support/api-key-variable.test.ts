import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";

/** Runs a script against a URL where no service is. It ends with 2 for wrong usage, and later with 1. */
const run = (script: string, args: string[], environment: Record<string, string> = {}) =>
  new Promise<number>((resolve) => {
    const file = fileURLToPath(new URL(`../../${script}`, import.meta.url));
    const options = { env: { PATH: process.env.PATH, ...environment } };
    execFile(process.execPath, [file, "--url", "http://127.0.0.1:2/v1", ...args], options, (error) =>
      resolve(Number(error?.code ?? 0)),
    );
  });

// npm prints the arguments of a script, so a key does not belong there.
it.each([
  ["test/contract/run.ts", ["--wait", "0"]],
  ["test/model/run.ts", ["--runs", "1", "--commands", "1"]],
])("%s reads the API key from API_KEY", async (script, args) => {
  expect(await run(script, args)).toBe(2);
  expect(await run(script, args, { API_KEY: "ask_local_x" })).toBe(1);
});
