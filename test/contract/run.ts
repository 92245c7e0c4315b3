import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { parseBaseUrl } from "../../cli/arguments.ts";
import { configureProgram, requireApiKey, runProgram } from "../../cli/run-program.ts";
import { waitUntilConsistent } from "./preflight.ts";

/** `API_KEY=<API key> npm run test:contract -- --url <base URL>`: the contract suite against any deployment. */

/** How long the stage can take to accept the key, in seconds. */
const WAIT = 60;

async function testContract({ url }: { url: string }, program: Command): Promise<void> {
  const key = requireApiKey(program);
  console.error(`Checking the URL and the key, for at most ${WAIT} s ...`);
  await waitUntilConsistent(url, key, WAIT);

  const root = fileURLToPath(new URL("../..", import.meta.url));
  const jest = createRequire(import.meta.url).resolve("jest/bin/jest");
  // One file at a time, so that a small stage is not throttled.
  const args = ["--experimental-vm-modules", jest, "--runInBand", "test/contract/"];
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...process.env, CONTRACT_URL: url, CONTRACT_KEY: key },
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("The deployment does not keep the contract.");
}

const program = configureProgram(new Command("npm run test:contract --"))
  .description(
    "Tests a deployment over HTTP, with the API key in the variable API_KEY, which needs both scopes. It adds animals.",
  )
  .requiredOption("--url <URL>", "base URL, ending in /v1", parseBaseUrl)
  .action(testContract);
process.exit(await runProgram(program, "test:contract"));
