import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startService } from "../support/local-service.ts";
import { fuzz } from "./check.ts";

/** `npm run test:fuzz -- [--count <inputs>] [--seed <number>] [--minutes <most>]`: fuzzes a local service of its own. */
const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    minutes: { type: "string", default: "10" },
  },
});
const [count, seed, minutes] = [values.count, values.seed, values.minutes].map(Number) as [
  number,
  number,
  number,
];

const folder = await mkdtemp(join(tmpdir(), "animal-store-fuzz-"));
const service = await startService({ DATA_DIR: folder });
console.log(`seed ${seed}, ${count} inputs, ${minutes} minutes at most`);
const began = Date.now();
const { sent, counts, failures } = await fuzz(service, { seed, count, until: began + minutes * 60_000 });
await service.stop();
// The log is one of JSON lines; what else there is says why the service ended.
const last = service.output().match(/^animal-store: .*$/m)?.[0];
if (last) failures.push(last);
await rm(folder, { recursive: true });

console.log(`${sent} inputs in ${Math.round((Date.now() - began) / 1000)} s`);
for (const [status, number] of [...counts].sort()) console.log(`${status}: ${number}`);
for (const failure of failures) console.error(`WRONG: ${failure}`);
console.log(failures.length === 0 ? "passed" : `failed: ${failures.length}`);
process.exit(failures.length === 0 ? 0 : 1);
