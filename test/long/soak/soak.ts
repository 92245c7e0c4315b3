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
/** How often a run kills what. */
const KILLS = { "kill functions": 20, "kill store": 4 };
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

/** What was done to a service under load, and what was measured. */
class Journal {
  readonly #service: LocalService;
  readonly #kills: { what: Command; at: number; threads: number }[] = [];
  /** MiB in use, in the middle and at the end of each quarter */
  readonly #samples: number[] = [];
  #peak = 0;

  constructor(service: LocalService) {
    this.#service = service;
  }

  async #command(text: Command): Promise<Measurement> {
    this.#service.process.send(text);
    const [reply] = await once(this.#service.process, "message");
    return reply;
  }

  /** Reads the resident memory. */
  read(): void {
    this.#peak = Math.max(this.#peak, residentMiB(this.#service.process.pid ?? 0));
  }

  async kill(what: Command): Promise<void> {
    const at = Date.now();
    const { killed = 0 } = await this.#command(what);
    this.#kills.push({ what, at, threads: killed });
  }

  async sample(): Promise<void> {
    // The least of several measurements, because each includes what the requests of that moment use.
    const measured: number[] = [];
    while (measured.length < 5) measured.push((await this.#command("measure")).used ?? Number.NaN);
    const used = Math.min(...measured);
    this.#samples.push(used);
    console.log(`${used.toFixed(1)} MiB in use, RSS at most ${this.#peak.toFixed(0)} MiB so far`);
  }

  /**
   * What happens in which order; `at` counts quarters of the requests. A killed thread frees what it leaked, so there are
   * kills only in the first half of a quarter, and samples in the second.
   */
  plan() {
    return [0, 1, 2, 3]
      .flatMap((quarter) => [
        ...[1, 2, 3, 4, 5].map((n) => ({ at: quarter + n / 12, run: () => this.kill("kill functions") })),
        { at: quarter + 3.5 / 12, run: () => this.kill("kill store") },
        ...[0.5, 0.95].map((part) => ({ at: quarter + part, run: () => this.sample() })),
      ])
      .sort((a, b) => a.at - b.at);
  }

  /** Returns what is wrong. */
  judge(total: number, { counts, serverErrors }: Observations): string[] {
    const unanswered = [...counts].filter(([what]) => what.endsWith("without a response"));
    const wrong = unanswered.map(([what, count]) => `${count} x ${what}`);
    const explained = (time: number) => this.#kills.some(({ at }) => time >= at && time <= at + KILL_WINDOW);
    const outside = serverErrors.filter((time) => !explained(time)).length;
    console.log(`5xx: ${serverErrors.length}, ${outside} of them outside the kills`);
    if (outside > total / 1000) wrong.push(`${outside} responses outside the kills were a 5xx`);
    for (const [what, expected] of Object.entries(KILLS)) {
      const { length } = this.#kills.filter((kill) => kill.what === what && kill.threads > 0);
      console.log(`${what}: ${length} times`);
      if (length < expected) wrong.push(`${what}: ${length} times instead of ${expected}`);
    }
    // The caches of the threads fill at different times, but a leak shows in every quarter.
    const growth = [0, 2, 4, 6].map(
      (n) => (this.#samples[n + 1] ?? Number.NaN) - (this.#samples[n] ?? Number.NaN),
    );
    const least = Math.min(...growth);
    console.log(`the memory in use grew by ${growth.map((mib) => mib.toFixed(1)).join(", ")} MiB`);
    if (!(least <= MAX_GROWTH_MIB)) wrong.push(`the memory in use grows in every quarter by ${least} MiB`);
    if (this.#peak > MAX_RESIDENT_MIB) wrong.push(`the resident memory reached ${this.#peak} MiB`);
    return wrong;
  }
}

async function run(service: LocalService, journal: Journal, total: number): Promise<void> {
  const pid = service.process.pid ?? 0;
  const seen = new Observations();
  await load(service, { prefix: "warm", seen, goOn: (sent) => sent < 1000 });
  const descriptors = openDescriptors(pid);

  const start = Date.now();
  const plan = journal.plan();
  let working = Promise.resolve();
  const goOn = (sent: number) => {
    while (plan[0] && sent >= (plan[0].at / 4) * total) working = working.then(plan.shift()?.run);
    return sent < total;
  };
  await load(service, { prefix: "soak", seen, goOn });
  await working;
  const seconds = (Date.now() - start) / 1000;
  console.log(`${total} requests in ${seconds.toFixed(0)} s, ${(total / seconds).toFixed(0)} a second`);
  // The service closes connections after its keep-alive time.
  await pause(7000);
  await audit(service, seen);
  seen.wrong.push(...journal.judge(total, seen));
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
  const journal = new Journal(service);
  using _reading = setInterval(() => journal.read(), 250);
  await Promise.race([run(service, journal, total), end]);
}
