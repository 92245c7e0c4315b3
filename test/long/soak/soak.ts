import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type LocalService, startService } from "../../support/local-service.ts";
import type { Command, Measurement } from "./instrument.ts";
import { audit, conclude, load, noObservations, type Observations } from "./load.ts";
import { type Memory, openDescriptors, watchMemory } from "./memory.ts";

/** How long a kill can cause a 5xx: the restart of the store, and the retries of the functions, in milliseconds. */
const KILL_WINDOW = 10_000;

type Kill = "kill functions" | "kill store";

/** What the run did, apart from the requests. */
interface Journal {
  kills: { what: Kill; at: number; threads: number }[];
  /** in MiB, after each quarter of the requests */
  samples: { rss: number; heap: number }[];
}

async function command(service: LocalService, text: Command): Promise<Measurement> {
  service.process.send(text);
  const [reply] = await once(service.process, "message");
  return reply as Measurement;
}

/** Sends the requests, and kills and measures in between. */
async function disturb(
  service: LocalService,
  memory: Memory,
  total: number,
  seen: Observations,
): Promise<Journal> {
  const { kills, samples }: Journal = { kills: [], samples: [] };
  async function kill(what: Kill): Promise<void> {
    const at = Date.now();
    const { killed = 0 } = await command(service, what);
    kills.push({ what, at, threads: killed });
  }
  async function sample(quarter: number): Promise<void> {
    const rss = memory.mean();
    const { heap = 0 } = await command(service, "measure");
    samples.push({ rss, heap });
    console.log(
      `${25 * quarter} %: RSS ${rss.toFixed(0)} MiB, heap of the service and its store ${heap.toFixed(1)} MiB`,
    );
  }
  // `at` counts quarters of the requests. The memory depends on the age of the instances, so every quarter has the same
  // kills, in its first half.
  const plan = [0, 1, 2, 3]
    .flatMap((quarter) => [
      ...[1, 2, 3, 4, 5].map((n) => ({ at: quarter + n / 12, run: () => kill("kill functions") })),
      { at: quarter + 3.5 / 12, run: () => kill("kill store") },
      ...(quarter > 0 ? [{ at: quarter, run: () => sample(quarter) }] : []),
    ])
    .sort((a, b) => a.at - b.at);
  let working = Promise.resolve();
  const goOn = (sent: number) => {
    for (let next = plan[0]; next && sent >= (next.at / 4) * total; next = plan[0]) {
      plan.shift();
      working = working.then(next.run);
    }
    return sent < total;
  };
  const start = Date.now();
  await load(service, { prefix: "soak", seen, goOn });
  await working;
  const seconds = (Date.now() - start) / 1000;
  await sample(4);
  console.log(`${total} requests in ${seconds.toFixed(0)} s, ${(total / seconds).toFixed(0)} a second`);
  return { kills, samples };
}

/** Notes what the journal shows to be wrong. */
function judge(total: number, seen: Observations, { kills, samples }: Journal): void {
  const { wrong, counts, serverErrors } = seen;
  for (const [what, count] of counts)
    if (what.endsWith("without a response")) wrong.push(`${count} x ${what}`);
  const unexplained = serverErrors.filter(
    (time) => !kills.some(({ at }) => time >= at && time <= at + KILL_WINDOW),
  );
  console.log(`5xx: ${serverErrors.length}, ${unexplained.length} of them outside the kills`);
  if (unexplained.length > total / 1000)
    wrong.push(`${unexplained.length} responses outside the kills were a 5xx`);
  for (const [what, expected] of Object.entries({ "kill functions": 20, "kill store": 4 })) {
    const effective = kills.filter((done) => done.what === what && done.threads > 0);
    console.log(`${what}: ${effective.length} times`);
    if (effective.length < expected) wrong.push(`${what}: ${effective.length} times instead of ${expected}`);
  }
  const [before, last] = samples.slice(-2);
  if (!before || !last || last.heap > before.heap * 1.05) wrong.push("the heap grows");
  if (!before || !last || last.rss > before.rss * 1.05) wrong.push("the resident memory grows");
}

async function run(service: LocalService, memory: Memory, total: number): Promise<void> {
  const pid = service.process.pid ?? 0;
  const seen = noObservations();
  await load(service, { prefix: "warm", seen, goOn: (sent) => sent < 1000 });
  const descriptors = openDescriptors(pid);
  const journal = await disturb(service, memory, total, seen);
  // The service closes connections after its keep-alive time.
  await pause(7000);
  await audit(service, seen);
  judge(total, seen, journal);
  if (openDescriptors(pid) > descriptors + 16) seen.wrong.push("the descriptors grow");
  conclude(seen);
}

/**
 * Sends mixed requests while the store and the functions are killed, as the command's description says.
 *
 * @param total number of requests
 * @throws Error when something was wrong
 */
export async function soak(total: number): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-soak-"));
  const instrument = join(import.meta.dirname, "instrument.ts");
  await using service = await startService({ DATA_DIR: folder.path }, [
    "--expose-gc",
    "--import",
    instrument,
  ]);
  const end = once(service.process, "exit").then(([status]) => {
    throw new Error(`The service ended with ${status}: ${service.output().slice(-2000)}`);
  });
  using memory = watchMemory(service.process.pid ?? 0);
  await Promise.race([run(service, memory, total), end]);
}
