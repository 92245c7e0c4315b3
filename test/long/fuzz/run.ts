import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startService } from "../../support/local-service.ts";
import { fuzz } from "./fuzz.ts";

const USAGE = `Usage: npm run test:fuzz -- [options]
Sends hostile requests to a local service of its own. Fails on a 5xx and on a response that is not an Error.
  --count <n>    number of requests (default 100000)
  --seed <n>     repeats the requests of a run (default: random)
  --minutes <n>  stops after this time at the latest (default 10)`;

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    minutes: { type: "string", default: "10" },
    help: { type: "boolean", short: "h", default: false },
  },
});
const seed = Number(values.seed);
const count = Number(values.count);
const minutes = Number(values.minutes);
if (values.help || !Number.isSafeInteger(seed) || !(count >= 1) || !(minutes > 0)) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

const folder = await mkdtemp(join(tmpdir(), "animal-store-fuzz-"));
const service = await startService({ DATA_DIR: folder });
console.log(`seed ${seed}, ${count} requests, ${minutes} minutes at most`);
const start = Date.now();
const { sent, counts, failures } = await fuzz(service, { seed, count, until: start + minutes * 60_000 });
await service.stop();
// The service writes JSON lines; any other line says why it ended.
const last = service.output().match(/^animal-store: .*$/m)?.[0];
if (last) failures.push(last);
await rm(folder, { recursive: true });

console.log(`${sent} requests in ${Math.round((Date.now() - start) / 1000)} s`);
for (const [status, number] of [...counts].sort(([a], [b]) => a - b)) console.log(`${status}: ${number}`);
for (const failure of failures) console.error(`WRONG: ${failure}`);
console.log(failures.length === 0 ? "passed" : `failed: ${failures.length}`);
process.exit(failures.length === 0 ? 0 : 1);
