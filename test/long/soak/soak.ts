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

// Linux lists processes in /proc.
const openDescriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
const residentMiB = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** What was done to a service under load, and what was measured. */
class Journal {
  readonly #service: LocalService;
  readonly #kills: { what: Command; at: number; threads: number }[] = [];
  readonly #samples: { rss: number; heap: number }[] = [];
  #readings: number[] = [];

  constructor(service: LocalService) {
    this.#service = service;
  }

  async #command(text: Command): Promise<Measurement> {
    this.#service.process.send(text);
    const [reply] = await once(this.#service.process, "message");
    return reply;
  }

  /** Reads the resident memory. A sample is a mean, because a single reading depends on the garbage collector. */
  read(): void {
    this.#readings.push(residentMiB(this.#service.process.pid ?? 0));
  }

  async kill(what: Command): Promise<void> {
    const at = Date.now();
    const { killed = 0 } = await this.#command(what);
    this.#kills.push({ what, at, threads: killed });
  }

  async sample(quarter: number): Promise<void> {
    const recent = this.#readings.slice(-Math.ceil(this.#readings.length / 2));
    this.#readings = [];
    const rss = recent.reduce((sum, value) => sum + value, 0) / recent.length;
    const { heap = 0 } = await this.#command("measure");
    this.#samples.push({ rss, heap });
    console.log(`${25 * quarter} %: RSS ${rss.toFixed(0)} MiB, heap with the store ${heap.toFixed(1)} MiB`);
  }

  /**
   * What happens in which order; `at` counts quarters of the requests. The memory depends on the age of the instances, so
   * every quarter has the same kills, in its first half.
   */
  plan() {
    return [0, 1, 2, 3]
      .flatMap((quarter) => [
        ...[1, 2, 3, 4, 5].map((n) => ({ at: quarter + n / 12, run: () => this.kill("kill functions") })),
        { at: quarter + 3.5 / 12, run: () => this.kill("kill store") },
        ...(quarter > 0 ? [{ at: quarter, run: () => this.sample(quarter) }] : []),
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
    const [before, last] = this.#samples.slice(-2);
    if (!before || !last || last.heap > before.heap * 1.05) wrong.push("the heap grows");
    if (!before || !last || last.rss > before.rss * 1.05) wrong.push("the resident memory grows");
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
  await journal.sample(4);
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
