import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startService } from "../../support/local-service.ts";
import type { Command, Measurement } from "./instrument.ts";
import { audit, load, noObservations } from "./load.ts";
import { openDescriptors, residentMiB } from "./process.ts";

const USAGE = `Usage: npm run test:soak -- [requests]
Sends mixed requests to a local service (default 200000), half of them lists, while its store is killed four times and its
functions are killed twenty times. Fails
- when a request gets no response or an unexpected one, or more than 0.1 % of the responses outside the kills are a 5xx;
- when an acknowledged pet is not in the list exactly once;
- when a kill did not happen;
- when the heap of the main thread and the store after a garbage collection, or the resident memory (mean of the second
  half of the quarter), grows by more than 5 % in the last quarter;
- when the service holds more than 16 descriptors above those of the start after the clients disconnected.`;

const total = Number(process.argv[2] ?? 200_000);
if (!(total >= 1000)) {
  console.log(USAGE);
  process.exit(process.argv[2] === "--help" ? 0 : 2);
}
const CONNECTIONS = 16;
/** How long a kill can cause a 5xx: the restart of the store, and the retries of the functions, in milliseconds. */
const KILL_WINDOW = 10_000;

const folder = await mkdtemp(join(tmpdir(), "animal-store-soak-"));
const instrument = fileURLToPath(new URL("instrument.ts", import.meta.url));
const service = await startService({ DATA_DIR: folder }, ["--expose-gc", "--import", instrument]);
const pid = service.process.pid ?? 0;
let stopped = false;

service.process.once("exit", (status) => {
  if (stopped) return;
  console.error(`WRONG: the service ended with ${status}: ${service.output().slice(-2000)}`);
  process.exit(1);
});

async function command(text: Command): Promise<Measurement> {
  service.process.send(text);
  const [reply] = await once(service.process, "message");
  return reply as Measurement;
}

/** RSS readings since the last sample, in MiB; a single one depends on the garbage collector. */
let readings: number[] = [];
const reading = setInterval(() => readings.push(residentMiB(pid)), 250);

const samples: { rss: number; heap: number }[] = [];
async function sample(percent: number): Promise<void> {
  const recent = readings.slice(-Math.ceil(readings.length / 2));
  readings = [];
  const rss = recent.reduce((sum, value) => sum + value, 0) / recent.length;
  const { heap = 0 } = await command("measure");
  samples.push({ rss, heap });
  console.log(
    `${percent} %: RSS ${rss.toFixed(0)} MiB, heap of the service and its store ${heap.toFixed(1)} MiB`,
  );
}

const kills: { what: string; at: number; threads: number }[] = [];
async function kill(what: "kill functions" | "kill store"): Promise<void> {
  const at = Date.now();
  const { killed = 0 } = await command(what);
  kills.push({ what, at, threads: killed });
}

/**
 * What happens in which order; `at` counts quarters of the requests. The memory depends on the age of the instances, so
 * every quarter has the same kills, in its first half.
 */
const plan = [0, 1, 2, 3]
  .flatMap((quarter) => [
    ...[1, 2, 3, 4, 5].map((n) => ({ at: quarter + n / 12, run: () => kill("kill functions") })),
    { at: quarter + 3.5 / 12, run: () => kill("kill store") },
    ...(quarter > 0 ? [{ at: quarter, run: () => sample(25 * quarter) }] : []),
  ])
  .sort((a, b) => a.at - b.at);

const seen = noObservations();
await load(service, { connections: CONNECTIONS, prefix: "warm", seen, goOn: (sent) => sent < 1000 });
const descriptors = openDescriptors(pid);

const start = Date.now();
let working = Promise.resolve();
const goOn = (sent: number) => {
  while (plan[0] && sent >= (plan[0].at / 4) * total) {
    const [{ run } = { run: async () => undefined }] = plan.splice(0, 1);
    working = working.then(run);
  }
  return sent < total;
};
await load(service, { connections: CONNECTIONS, prefix: "soak", seen, goOn });
await working;
const seconds = (Date.now() - start) / 1000;
await sample(100);
clearInterval(reading);
// The service closes connections after its keep-alive time.
await pause(7000);

console.log(`${total} requests in ${seconds.toFixed(0)} s, ${(total / seconds).toFixed(0)} a second`);
for (const [what, count] of [...seen.counts].sort()) console.log(`${what}: ${count}`);

const wrong = [...seen.wrong, ...(await audit(service, seen))];
for (const [what, count] of seen.counts)
  if (what.endsWith("without a response")) wrong.push(`${count} x ${what}`);
const unexplained = seen.serverErrors.filter(
  (time) => !kills.some(({ at }) => time >= at && time <= at + KILL_WINDOW),
);
console.log(`5xx: ${seen.serverErrors.length}, ${unexplained.length} of them outside the kills`);
if (unexplained.length > total / 1000)
  wrong.push(`${unexplained.length} responses outside the kills were a 5xx`);
for (const [what, expected] of [
  ["kill functions", 20],
  ["kill store", 4],
] as const) {
  const effective = kills.filter((done) => done.what === what && done.threads > 0);
  console.log(`${what}: ${effective.length} times`);
  if (effective.length < expected) wrong.push(`${what}: ${effective.length} times instead of ${expected}`);
}
const [before, last] = samples.slice(-2);
if (!before || !last || last.heap > before.heap * 1.05) wrong.push("the heap grows");
if (!before || !last || last.rss > before.rss * 1.05) wrong.push("the resident memory grows");
if (openDescriptors(pid) > descriptors + 16) wrong.push("the descriptors grow");

stopped = true;
await service.stop();
await rm(folder, { recursive: true });
for (const fault of wrong.slice(0, 20)) console.error(`WRONG: ${fault}`);
console.log(wrong.length === 0 ? "passed" : `failed: ${wrong.length}`);
process.exit(wrong.length === 0 ? 0 : 1);
