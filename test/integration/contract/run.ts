import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ask, openQuestions } from "./open-questions.ts";
import { waitUntilConsistent } from "./preflight.ts";

/** `API_KEY=<API key> npm run test:contract -- --url <base URL>`: the contract suite against any deployment. */
const { values } = parseArgs({
  options: {
    url: { type: "string" },
    key: { type: "string" },
    wait: { type: "string", default: "60" },
    help: { type: "boolean", short: "h" },
  },
});
const { wait, help } = values;
const key = values.key ?? process.env.API_KEY;
const url = values.url?.replace(/\/$/, "");

if (help || !url || !key || !/^\d+$/.test(wait)) {
  console[
    help ? "log" : "error"
  ](`Usage: API_KEY=<API key with both scopes> npm run test:contract -- --url <base URL, ending in /v1>
  --key <API key>   instead of API_KEY; npm prints it
  --wait <seconds>  how long to wait at most until the stage accepts the key (60)`);
  process.exit(help ? 0 : 2);
}

console.error(`Checking the URL and the key, for at most ${wait} s ...`);
try {
  await waitUntilConsistent(url, key, { seconds: Number(wait) });
} catch (error) {
  console.error(`test:contract: ${(error as Error).message}`);
  process.exit(1);
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const jest = createRequire(import.meta.url).resolve("jest/bin/jest");
// One file at a time, so that a small stage is not throttled.
const args = ["--experimental-vm-modules", jest, "--runInBand", "test/integration/contract/"];
const { status } = spawnSync(process.execPath, args, {
  cwd: root,
  env: { ...process.env, CONTRACT_URL: url, CONTRACT_KEY: key },
  stdio: "inherit",
});

const faults: string[] = [];
console.log(
  "\nWhat it answers to the open questions of docs/aws-assumptions.md, as rows of that document:\n",
);
for (const question of openQuestions) {
  const { name, expected, why } = question;
  const { answer, faults: found } = await ask(question, url, key);
  console.log(`| ${[name, expected, answer, why].join(" | ")} |`);
  faults.push(...found.map((fault) => `${name}: ${fault}`));
}
for (const fault of faults) console.error(`test:contract: ${fault}`);
process.exit(status === 0 && faults.length === 0 ? 0 : 1);
