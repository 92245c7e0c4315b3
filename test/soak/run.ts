import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startService } from "../support/local-service.ts";
import { audit, emptySeen, load } from "./load.ts";
import { functionProcesses, openDescriptors, residentMiB } from "./process.ts";
import { startStoreProcess } from "./store-process.ts";

/**
 * `npm run test:soak -- [requests]`: mixed load on a local service, while its store is killed and restarted five
 * times and its function processes twenty times. It fails
 * - when a request gets no answer, or one that is neither right nor a 500, 503 or 504;
 * - when an acknowledged animal is not in the list exactly once;
 * - when the service's memory at the end is over 1.5 times that in the middle and 64 MiB more, or it holds
 *   more than 16 descriptors above those of the start once the clients have gone.
 */
const total = Number(process.argv[2] ?? 200_000);
const CONNECTIONS = 64;

const folder = await mkdtemp(join(tmpdir(), "animal-store-soak-"));
const store = await startStoreProcess(join(folder, "store"));
const service = await startService({
  DATA_DIR: join(folder, "data"),
  AWS_ENDPOINT_URL_DYNAMODB: store.endpoint,
});
const pid = service.process.pid ?? 0;

const samples: { rss: number; fds: number }[] = [];
function sample(when: string): void {
  const [rss, fds] = [residentMiB(pid), openDescriptors(pid)];
  samples.push({ rss, fds });
  console.log(`${when}: service ${rss} MiB, ${fds} descriptors`);
}

const kills = { store: 0, functions: 0 };
/** What is killed at which part of the way, in order. */
const plan = [
  ...Array.from({ length: 20 }, (_, n) => ({ at: (n + 1) / 21, what: killFunctions })),
  ...Array.from({ length: 5 }, (_, n) => ({ at: (n + 0.5) / 5, what: killStore })),
  ...Array.from({ length: 9 }, (_, n) => ({ at: (n + 1) / 10, what: async () => progress(n + 1) })),
  { at: 0.5, what: async () => sample("middle") },
].sort((a, b) => a.at - b.at);

function progress(tenths: number): void {
  console.log(`${tenths * 10} % after ${Math.round((Date.now() - began) / 1000)} s`);
}

async function killFunctions(): Promise<void> {
  for (const each of functionProcesses(pid)) {
    process.kill(each, "SIGKILL");
    kills.functions++;
  }
}

async function killStore(): Promise<void> {
  await store.kill();
  kills.store++;
  await pause(500);
  await store.restart();
}

let began = Date.now();
const seen = emptySeen();
await load(service, CONNECTIONS, "warm", seen, (sent) => sent < 1000);
await pause(1000);
sample("start");

began = Date.now();
let working = Promise.resolve();
await load(service, CONNECTIONS, "soak", seen, (sent) => {
  while (plan[0] && sent >= plan[0].at * total) {
    const { what } = plan.shift() as (typeof plan)[number];
    working = working.then(what);
  }
  return sent < total;
});
await working;
const seconds = (Date.now() - began) / 1000;
// The service closes what the clients have left within its keep-alive time.
await pause(7000);
sample("end");

console.log(
  `${total} requests in ${seconds.toFixed(0)} s, ${(total / seconds).toFixed(0)} a second, ${CONNECTIONS} connections`,
);
console.log(`killed: the store ${kills.store} times, ${kills.functions} function processes`);
for (const [what, count] of [...seen.counts].sort()) console.log(`${what}: ${count}`);

const wrong = [...seen.wrong, ...(await audit(service, seen))];
for (const [what, count] of seen.counts) if (what.endsWith("no answer")) wrong.push(`${count} x ${what}`);
const [start, middle, end] = samples;
if (!start || !middle || !end || end.rss > middle.rss * 1.5 + 64) wrong.push("the memory grows");
if (start && end && end.fds > start.fds + 16) wrong.push("the descriptors grow");

await service.stop();
await store.kill();
await rm(folder, { recursive: true });
for (const each of wrong.slice(0, 20)) console.error(`WRONG: ${each}`);
console.log(wrong.length === 0 ? "passed" : `failed: ${wrong.length}`);
process.exit(wrong.length === 0 ? 0 : 1);
