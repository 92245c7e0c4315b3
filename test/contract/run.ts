import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { API_VERSION } from "../../lib/operation.ts";
import { configureProgram, runProgram } from "../../tools/cli/run-program.ts";
import { eventually } from "../support/eventually.ts";

/** `API_KEY=<API key> npm run test:contract -- --url <base URL>`: the contract suite against any deployment. */

/** How long the stage can take to treat the key consistently, in seconds. */
const WAIT = 60;
/** How many requests in a row show that. */
const IN_A_ROW = 5;

/** Lists pets a few times, with the key and without it. @returns the statuses, or why there is none */
async function statusesOf(url: string, key: string): Promise<string> {
  const status = async (headers: Record<string, string>) => {
    const signal = AbortSignal.timeout(10_000);
    return fetch(`${url}/pets?limit=1`, { headers, signal }).then(
      ({ status }) => String(status),
      ({ message, cause }) => String(cause?.code ?? message),
    );
  };
  const found = new Set<string>();
  for (let n = 0; n < IN_A_ROW; n++)
    found.add(`${await status({ Authorization: `Bearer ${key}` })} and ${await status({})}`);
  return [...found].join(", ");
}

async function testContract({ url }: { url: string }, program: Command): Promise<void> {
  const { API_KEY: key } = process.env; // no option, because npm prints those
  if (!key) program.error("error: Set API_KEY to an API key with both scopes.");
  console.error(`Checking the URL and the key, for about ${WAIT} s ...`);
  // After a deployment, API Gateway and IAM can need seconds until every request sees the change.
  const check = (found: string) => {
    if (found !== "200 and 401")
      throw new Error(`With the key and without it, ${url}/pets returned ${found}, not 200 and 401.`);
  };
  await eventually(() => statusesOf(url, key), check, { seconds: WAIT });

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
  .requiredOption("--url <URL>", `base URL, ending in /${API_VERSION}`, (text) => text.replace(/\/$/, ""))
  .action(testContract);
await runProgram(program, "test:contract");
process.exit();
