import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { interleave, median } from "../stats.ts";
import type { Variant } from "./variants.ts";

const child = fileURLToPath(new URL("child.cjs", import.meta.url));

interface Times {
  wall: number;
  cpu: number;
}

/** Medians of many cold starts, in milliseconds. */
export interface ColdStart {
  /** import and construction of the clients; with `start.mjs` the warm-up as well */
  load: Times;
  /** the fastest import, which other work on the machine disturbed least */
  fastest: number;
  /** the first request, from the handler's call to its answer */
  first: Times;
  /** the next request */
  second: Times;
  /** from before the import to the first answer */
  answer: Times;
  /** what was read: the bundle, and what it required besides */
  bytes: number;
  files: number;
}

interface Run {
  times: Times[];
  statusCode: number;
  files: number;
  bytes: number;
}

async function start(
  { name, file, event }: Variant,
  environment: NodeJS.ProcessEnv,
  cache = "",
): Promise<Run> {
  const args = [child, file, JSON.stringify(event), cache];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: environment });
  const run: Run = JSON.parse(stdout);
  if (run.statusCode >= 400) throw new Error(`${name} answered ${run.statusCode}.`);
  return run;
}

function between(runs: readonly Run[], from: number, to: number): Times {
  const differences = (kind: keyof Times) =>
    runs.map(({ times }) => (times[to]?.[kind] ?? 0) - (times[from]?.[kind] ?? 0));
  return { wall: median(differences("wall")), cpu: median(differences("cpu")) };
}

/**
 * Starts each variant many times, in turns, each time in a process of its own.
 *
 * @param variants with `cache`, V8 keeps the compiled code in that folder, and a first start fills it
 */
export async function measure(
  rounds: number,
  variants: readonly (Variant & { cache?: string })[],
  environment: NodeJS.ProcessEnv,
): Promise<ColdStart[]> {
  const tasks = variants.map((variant) => () => start(variant, environment, variant.cache));
  // The first round brings every file into the page cache.
  for (const task of tasks) await task();
  const results = await interleave(rounds, tasks);
  return results.map((runs) => ({
    load: between(runs, 0, 1),
    fastest: Math.min(...runs.map(({ times }) => (times[1]?.wall ?? 0) - (times[0]?.wall ?? 0))),
    first: between(runs, 1, 2),
    second: between(runs, 2, 3),
    answer: between(runs, 0, 2),
    bytes: runs[0]?.bytes ?? 0,
    files: runs[0]?.files ?? 0,
  }));
}
