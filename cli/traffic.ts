import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import { API_VERSION } from "../lib/operation.ts";
import { parseBaseUrl } from "./arguments.ts";
import { addPet, findPet, type Probe, probesOf, send } from "./probe.ts";
import { configureProgram, printError, requireApiKey, runProgram, type World } from "./run-program.ts";

/**
 * `npm run traffic -- --url <base URL> -- <command>`: sends requests while a deployment runs, so that the alarms of a
 * canary have something to measure.
 */

export const PAUSE_MS = 1000;
/** How many last rounds a probe has to succeed: a request right after a deployment can still fail. */
export const TRIES = 3;

interface Run {
  world: World;
  url: string;
  probes: Probe[];
}

/** Sends a round: the request of each probe. @returns the probes that failed */
async function sendRound({ url, probes }: Run): Promise<Probe[]> {
  const succeeded = await Promise.all(probes.map((probe) => send(probe, url)));
  return probes.filter((_, index) => !succeeded[index]);
}

/** Sends rounds until each probe has succeeded in one, a few times at most. @returns the probes that have not */
async function failingProbes(run: Run): Promise<Probe[]> {
  let failing = run.probes;
  for (let tries = 1; ; tries++) {
    const failed = await sendRound(run);
    failing = failing.filter((probe) => failed.includes(probe));
    if (failing.length === 0 || tries === TRIES) return failing;
    await setTimeout(PAUSE_MS);
  }
}

function report({ name, sent, failures }: Probe): string {
  const kinds = failures.length > 0 ? ` (${[...new Set(failures)].join(", ")})` : "";
  return `${name}: ${sent} requests, ${failures.length} failed${kinds}`;
}

/** Sends a round before the command. @throws Error if every operation refuses the key: a canary then proves nothing */
async function checkKey(run: Run): Promise<void> {
  await sendRound(run);
  if (run.probes.every(({ key, failures }) => !key || failures.some((kind) => kind === 401 || kind === 403)))
    throw new Error("Every operation refuses the key in API_KEY, so the command was not run.");
}

/** Runs the command, without the key, and sends rounds until it ends. @returns its exit code, or the signal that ended it */
async function sendWhile([program = "", ...args]: string[], run: Run): Promise<number | string> {
  const { API_KEY: _, ...env } = run.world.env;
  const ended = once(spawn(program, args, { stdio: "inherit", env }), "close");
  const rounds: Promise<Probe[]>[] = [];
  const timer = setInterval(() => rounds.push(sendRound(run)), PAUSE_MS);
  const [code, signal] = await ended.finally(() => clearInterval(timer));
  await Promise.all(rounds);
  return code ?? signal;
}

async function sendTraffic(world: World, command: string[], url: string, traffic: Command): Promise<void> {
  const key = requireApiKey(world, traffic);
  const run: Run = { world, url, probes: probesOf(key, await findPet(url, key)) };
  await checkKey(run);
  const end = await sendWhile(command, run);
  const after = await failingProbes(run);
  printError(world, run.probes.map(report).join("\n"));
  const pet = await addPet(url, key);
  const advice = `The pet of this key is ${pet}. Remove it once, as in "An animal must go" in docs/incidents.md.`;
  if (pet && !world.env.GITHUB_ACTIONS) printError(world, advice);
  if (end !== 0) throw new Error(`${command[0]} ended with ${end}.`);
  const failing = after.map(({ name }) => name).join(", ");
  if (failing) throw new Error(`These fail after the command: ${failing}.`);
}

/** The command for deployments. */
export const trafficProgram = (world: World): Command =>
  configureProgram(new Command("npm run traffic --"), world)
    .description(
      "Runs a command, and sends requests to each operation every second until it ends: with the API key in the variable API_KEY, which needs both scopes, and without a key. It adds one pet for each API key. Fails if the command or the last requests fail, and does not run the command if every operation refuses the key.",
    )
    .requiredOption("--url <URL>", `base URL, ending in /${API_VERSION}`, parseBaseUrl)
    .argument("<command...>", "such as npx cdk deploy <stack>")
    .usage("--url <URL> -- <command>")
    .action((command, { url }, traffic) => sendTraffic(world, command, url, traffic));

if (import.meta.main) process.exitCode = await runProgram(trafficProgram(process), "traffic", process);
