import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { keysJson } from "../../support/keys-cli.ts";
import { startService } from "../../support/local-service.ts";
import { checkModel } from "./check.ts";
import type { TestedService } from "./service.ts";

const USAGE = `Usage: npm run test:model [-- <options>]
       API_KEY=<API key with both scopes> npm run test:model -- --url <base URL, ending in /v1> [<options>]
Runs random commands against a service and compares it with a model of docs/contract.md. Without --url it tests a local
service of its own, which it restarts, and whose keys it issues, rotates and revokes.

  --key <API key>      instead of API_KEY; npm prints it
  --runs <number>      sequences of commands (default 20)
  --commands <number>  the most commands of a sequence (default 50)
  --seed <number>      repeats a run (default: random)`;

const { url, help, ...values } = parseArgs({
  options: {
    url: { type: "string" },
    key: { type: "string" },
    runs: { type: "string", default: "20" },
    commands: { type: "string", default: "50" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    help: { type: "boolean", short: "h", default: false },
  },
}).values;
const [runs, commands, seed] = [values.runs, values.commands, values.seed].map(Number) as [
  number,
  number,
  number,
];
const key = values.key ?? (url && process.env.API_KEY);
if (help || !(runs >= 1) || !(commands >= 1) || !Number.isInteger(seed) || !url !== !key) {
  console.error(USAGE);
  process.exit(help ? 0 : 2);
}

/** A local service in a folder of its own, which the run controls. */
async function withOwnService(test: (service: TestedService) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-model-"));
  let local = await startService({ DATA_DIR: folder });
  const service: TestedService = {
    baseUrl: local.baseUrl,
    key: local.key,
    keys: (...args) => keysJson([...args, "--stage", "local"], { DATA_DIR: folder }),
    restart: async () => {
      await local.stop();
      local = await startService({ DATA_DIR: folder });
      service.baseUrl = local.baseUrl;
    },
  };
  try {
    await test(service);
  } finally {
    await local.stop();
    await rm(folder, { recursive: true });
  }
}

const check = (service: TestedService) => checkModel(service, { seed, runs, commands });
console.log(`Seed ${seed}`);
await (url && key ? check({ baseUrl: url.replace(/\/$/, ""), key }) : withOwnService(check));
console.log(`${runs} sequences of up to ${commands} commands: the service did what the model says.`);
