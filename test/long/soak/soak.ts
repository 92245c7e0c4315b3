import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type LocalService, startService } from "../../support/local-service.ts";
import type { Command, Measurement } from "./instrument.ts";
import { audit, conclude, load, Observations } from "./load.ts";

/** How long a kill can cause a 5xx: the restart of the store, and the retries of the functions, in milliseconds. */
const KILL_WINDOW = 10_000;
/**
 * Between the two samples of a quarter of 200,000 requests, a leak of 1 KiB a request is 22 MiB in the gateway or the
 * store, and 3 to 6 MiB in an instance of listPets.
 */
const MAX_GROWTH_MIB = 2;
const MAX_RESIDENT_MIB = 600;

// Linux lists processes in /proc.
const openDescriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
const residentMiB = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

interface Kill {
  what: Command;
  /** in milliseconds since 1970 */
  at: number;
}

/**
 * What happens in which order; `at` counts quarters of the requests. A killed thread frees what it leaked, so there are
 * kills only in the first half of a quarter, and measurements in the second.
 */
const PLAN = [0, 1, 2, 3].flatMap((quarter) =>
  [1, 2, 3, 3.5, 4, 5, 6, 11.4].map((n): Kill => {
    const what = n === 3.5 ? "kill store" : n < 6 ? "kill functions" : "measure";
    return { at: quarter + n / 12, what };
  }),
);

/** Returns what is wrong with the responses, and with the kills that happened. */
function judgeResponses(total: number, { counts, serverErrors }: Observations, kills: Kill[]): string[] {
  const wrong = [...counts].filter(([what]) => what.endsWith("without a response")).map(String);
  const explained = (time: number) => kills.some(({ at }) => time >= at && time <= at + KILL_WINDOW);
  const outside = serverErrors.filter((time) => !explained(time)).length;
  console.log(`5xx: ${serverErrors.length}, ${outside} of them outside the kills`);
  if (outside > total / 1000) wrong.push(`${outside} responses outside the kills were a 5xx`);
  for (const what of ["kill functions", "kill store"]) {
    const planned = PLAN.filter((kill) => kill.what === what).length;
    const { length } = kills.filter((kill) => kill.what === what);
    console.log(`${what}: ${length} times`);
    if (length < planned) wrong.push(`${what}: ${length} times instead of ${planned}`);
  }
  return wrong;
}

/** Returns whether the memory grows. @param samples MiB in use, in the middle and at the end of each quarter */
function judgeMemory(samples: number[]): string[] {
  // The caches of the threads fill at different times, but a leak shows in every quarter.
  const growth = [0, 2, 4, 6].map((n) => (samples[n + 1] ?? Number.NaN) - (samples[n] ?? Number.NaN));
  const least = Math.min(...growth);
  console.log(`the memory in use grew by ${growth.map((mib) => mib.toFixed(1)).join(", ")} MiB`);
  return least <= MAX_GROWTH_MIB ? [] : [`the memory in use grows in every quarter by ${least} MiB`];
}

async function run(service: LocalService, total: number): Promise<void> {
  const { process: child } = service;
  const pid = child.pid ?? 0;
  const command = async (what: Command): Promise<Measurement> => {
    child.send(what);
    return (await once(child, "message"))[0];
  };
  const kills: Kill[] = [];
  const samples: number[] = [];
  const execute = async (what: Command) => {
    const at = Date.now();
    if (what !== "measure") {
      if ((await command(what)).killed) kills.push({ what, at });
      return;
    }
    // The least of several measurements, because each includes what the requests of that moment use.
    const measured: number[] = [];
    while (measured.length < 5) measured.push((await command(what)).used ?? Number.NaN);
    samples.push(Math.min(...measured));
    console.log(`${samples.at(-1)?.toFixed(1)} MiB in use`);
  };

  const seen = new Observations();
  await load(service, { prefix: "warm", seen, goOn: (sent) => sent < 1000 });
  const descriptors = openDescriptors(pid);
  let peak = 0;
  using _reading = setInterval(() => {
    peak = Math.max(peak, residentMiB(pid));
  }, 250);

  const start = Date.now();
  const plan = [...PLAN];
  let working = Promise.resolve();
  const goOn = (sent: number) => {
    for (; plan[0] && sent >= (plan[0].at / 4) * total; plan.shift()) {
      const { what } = plan[0];
      working = working.then(() => execute(what));
    }
    return sent < total;
  };
  await load(service, { prefix: "soak", seen, goOn });
  await working;
  const seconds = (Date.now() - start) / 1000;
  console.log(`${total} requests in ${seconds.toFixed(0)} s, ${(total / seconds).toFixed(0)} a second`);
  // The service closes connections after its keep-alive time.
  await pause(7000);
  await audit(service, seen);
  seen.wrong.push(...judgeResponses(total, seen, kills), ...judgeMemory(samples));
  console.log(`RSS at most ${peak.toFixed(0)} MiB`);
  if (!(peak <= MAX_RESIDENT_MIB)) seen.wrong.push(`the resident memory reached ${peak} MiB`);
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
  const options = ["--expose-gc", "--import", join(import.meta.dirname, "instrument.ts")];
  await using service = await startService({ DATA_DIR: folder.path }, options);
  const end = once(service.process, "exit").then(([status]) => {
    throw new Error(`The service ended with ${status}: ${service.output().slice(-2000)}`);
  });
  await Promise.race([run(service, total), end]);
}
