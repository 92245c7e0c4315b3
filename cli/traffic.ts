import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import { exampleOf } from "../lib/examples.ts";
import { type Operation, operations } from "../lib/operations.ts";
import { configureProgram, runProgram } from "./run-program.ts";

/**
 * `npm run traffic -- --url <base URL> -- <command>`: sends requests while a deployment runs, so that the alarms of a
 * canary have something to measure.
 */

const PAUSE_MS = 1000;
const TIMEOUT_MS = 10_000;
/** How often the last round is tried: a request right after a deployment can still fail. */
const TRIES = 3;
/** API Gateway caches the authorizer's result for each spelling of the header, so that another one asks the authorizer. */
const SPELLINGS = 60;
/** An id that no pet has, for deletions, and for requests that need one before a creation has returned a pet. */
const NO_PET = "1";

/** All creations of a run have the same key, so that it adds one pet at most (contract 4.8). Other operations ignore it. */
const HEADERS = { "Content-Type": "application/json", "Idempotency-Key": "release-check" };
/** What the pet of a run has in place of the examples. */
const PET: Record<string, unknown> = { name: "Release check", categoryId: 0, status: "sold" };

/** The body of an operation: its example, with the values of the run's pet. */
function bodyOf({ body }: Operation) {
  if (!body) return {};
  const members = Object.entries(exampleOf(body) as object).map(([name, value]) => [
    name,
    PET[name] ?? value,
  ]);
  return { body: JSON.stringify(Object.fromEntries(members)) };
}

const isServed = ({ deprecation }: Operation) => !deprecation || Date.now() < deprecation.sunset.getTime();

/** Sends rounds of requests, one to each operation, and counts the failures. */
class Traffic {
  readonly #url: string;
  readonly #key: string;
  /** the failures of each operation: a status, or the code of a network error */
  readonly #failures = new Map(
    operations.filter(isServed).map((operation) => [operation, [] as (string | number)[]] as const),
  );
  #rounds = 0;
  #petId = NO_PET;

  constructor(url: string, key: string) {
    this.#url = url.replace(/\/$/, "");
    this.#key = key;
  }

  /** Sends a round. @returns whether every response was a success */
  async round(): Promise<boolean> {
    const authorization = "Bearer".padEnd("Bearer ".length + (this.#rounds++ % SPELLINGS)) + this.#key;
    const results = [...this.#failures].map(async ([operation, failures]) => {
      const failure = await this.#send(operation, authorization);
      if (failure) failures.push(failure);
      return !failure;
    });
    return (await Promise.all(results)).every(Boolean);
  }

  async #send(operation: Operation, authorization: string) {
    const { id, method, path, success } = operation;
    const petId = method === "DELETE" ? NO_PET : this.#petId;
    try {
      const response = await fetch(this.#url + path.replace(/\{\w+\}/, petId), {
        method,
        headers: { ...HEADERS, Authorization: authorization },
        ...bodyOf(operation),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      if (response.status === 404 && path.includes("{") && petId === NO_PET) return undefined;
      if (response.status !== success.status) return response.status;
      if (id === "createPet") this.#petId = String(JSON.parse(text).id);
      return undefined;
    } catch (error) {
      const { cause, name } = error as Error & { cause?: NodeJS.ErrnoException };
      return cause?.code ?? name;
    }
  }

  /** One line for each operation. */
  report(): string {
    const lines = [...this.#failures].map(([{ id }, failures]) => {
      const kinds = failures.length > 0 ? ` (${[...new Set(failures)].join(", ")})` : "";
      return `${id}: ${this.#rounds} requests, ${failures.length} failed${kinds}`;
    });
    return lines.join("\n");
  }
}

async function sendWhile(command: string[], { url }: { url: string }): Promise<void> {
  const { API_KEY: key, ...env } = process.env;
  if (!key) throw new Error("Set API_KEY to an API key with both scopes.");
  const traffic = new Traffic(url, key);
  const [program = "", ...args] = command;
  const ended = once(spawn(program, args, { stdio: "inherit", env }), "close");
  const rounds: Promise<boolean>[] = [];
  const send = () => rounds.push(traffic.round());
  send();
  const timer = setInterval(send, PAUSE_MS);
  const [code, signal] = await ended.finally(() => clearInterval(timer));
  await Promise.all(rounds);

  let good = await traffic.round();
  for (let tries = 1; !good && tries < TRIES; tries++) {
    await setTimeout(PAUSE_MS);
    good = await traffic.round();
  }
  console.error(traffic.report());
  if (code !== 0) throw new Error(`${program} ended with ${code ?? signal}.`);
  if (!good) throw new Error("Not every operation succeeds after the command.");
}

const program = configureProgram(new Command("npm run traffic --"))
  .description(
    "Runs a command, and sends a request to each operation every second until it ends. Fails if the command fails, or the last requests. It adds one pet, and needs an API key with both scopes in the variable API_KEY.",
  )
  .requiredOption("--url <URL>", "base URL, ending in /v1")
  .argument("<command...>", "such as npx cdk deploy <stack>")
  .usage("--url <URL> -- <command>")
  .action(sendWhile);

process.exitCode = await runProgram(program, "traffic");
