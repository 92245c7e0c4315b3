import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";

const script = fileURLToPath(new URL("./contract/run.ts", import.meta.url));

/** Runs the suite against a URL where no service is. It ends with 2 for wrong usage, and later with 1. */
const testContract = (environment: Record<string, string>) =>
  new Promise<number>((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...environment } };
    const args = [script, "--url", "http://127.0.0.1:2/v1", "--wait", "0"];
    execFile(process.execPath, args, options, (error) => resolve(Number(error?.code ?? 0)));
  });

// npm prints the arguments of a script, so a key does not belong there.
it("npm run test:contract reads the API key from API_KEY", async () => {
  expect([await testContract({}), await testContract({ API_KEY: "ask_local_x" })]).toEqual([2, 1]);
});
