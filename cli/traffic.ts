import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import { exampleOf } from "../lib/examples.ts";
import type { Operation } from "../lib/operation.ts";
import { operations } from "../lib/operations.ts";
import { parseBaseUrl } from "./arguments.ts";
import { configureProgram, runProgram } from "./run-program.ts";

/**
 * `npm run traffic -- --url <base URL> -- <command>`: sends requests while a deployment runs, so that the alarms of a
 * canary have something to measure.
 */

const PAUSE_MS = 1000;
const TIMEOUT_MS = 10_000;
/** How often the first and the last round are tried: a request right after a deployment can still fail. */
const TRIES = 3;
/** How often an operation returns the same wrong status until it is no accident. A canary gets a tenth of the calls. */
const WRONG_ANSWERS = 5;
/** API Gateway caches the authorizer's result for each spelling of the header, so that another one asks the authorizer. */
const SPELLINGS = 60;
const ROLL_BACK = `To roll the release back while it runs, stop it:
  aws deploy list-deployments --include-only-statuses InProgress
  aws deploy stop-deployment --deployment-id <id> --auto-rollback-enabled`;
/** An id that no pet has, for deletions, and for requests that need one before a creation has returned a pet. */
const NO_PET = "1";

/** All creations of a run have the same key, so that it adds one pet at most (contract 4.8). Other operations ignore it. */
const HEADERS = { "Content-Type": "application/json", "Idempotency-Key": "release-check" };
/** What the pet of a run has in place of the examples. */
const PET: Record<string, unknown> = { name: "Release check", categoryId: 0, status: "sold" };

/** The body of an operation: its example, with the values of the run's pet. A body can have a part of a pet's members. */
function bodyOf({ body }: Operation) {
  if (!body) return {};
  const members = Object.entries(exampleOf(body) as object).map(([name, value]) => [
    name,
    PET[name] ?? value,
  ]);
  return { body: JSON.stringify(Object.fromEntries(members)) };
}

const isServed = ({ deprecation }: Operation) => !deprecation || Date.now() < deprecation.sunset.getTime();

/** What each round sends to an operation, and the failures: a status, or the code of a network error. */
interface Check {
  name: string;
  operation: (typeof operations)[number];
  key: string;
  failures: (string | number)[];
}

/** Sends rounds of requests, one to each operation, and counts the failures. */
class Traffic {
  readonly #url: string;
  readonly #checks: Check[];
  #rounds = 0;
  #petId = NO_PET;

  /** @param earlierKey a key that was issued before the release, for the operations that only read */
  constructor(url: string, key: string, earlierKey: string) {
    this.#url = url.replace(/\/$/, "");
    this.#checks = operations.filter(isServed).flatMap((operation) => {
      const check: Check = { name: operation.id, operation, key, failures: [] };
      if (!earlierKey || operation.method !== "GET") return check;
      return [check, { ...check, name: `${check.name} with the earlier key`, key: earlierKey, failures: [] }];
    });
  }

  /** Sends rounds until one has no failure, a few times at most. @returns whether one had none */
  async succeeds(): Promise<boolean> {
    for (let tries = 1; !(await this.round()); tries++) {
      if (tries === TRIES) return false;
      await setTimeout(PAUSE_MS);
    }
    return true;
  }

  /** Sends a round. @returns whether every response was a success */
  async round(): Promise<boolean> {
    const scheme = "Bearer".padEnd("Bearer ".length + (this.#rounds++ % SPELLINGS));
    const results = this.#checks.map(async ({ operation, key, failures }) => {
      const failure = await this.#send(operation, scheme + key);
      if (failure) failures.push(failure);
      return !failure;
    });
    return (await Promise.all(results)).every(Boolean);
  }

  /** Returns the statuses that are wrong and no accident, in words. A lost connection is none of them. */
  wrongAnswers(): string[] {
    return this.#checks.flatMap(({ name, failures }) =>
      [...new Set(failures)]
        .filter((kind) => typeof kind === "number")
        .filter((kind) => failures.filter((failure) => failure === kind).length >= WRONG_ANSWERS)
        .map((status) => `${name} returned ${status}`),
    );
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

  /** One line for each operation and key. */
  report(): string {
    const lines = this.#checks.map(({ name, failures }) => {
      const kinds = failures.length > 0 ? ` (${[...new Set(failures)].join(", ")})` : "";
      return `${name}: ${this.#rounds} requests, ${failures.length} failed${kinds}`;
    });
    return lines.join("\n");
  }
}

async function sendWhile(command: string[], { url }: { url: string }): Promise<void> {
  const { API_KEY: key, EARLIER_API_KEY: earlierKey = "", ...env } = process.env;
  if (!key) throw new Error("Set API_KEY to an API key with both scopes.");
  const traffic = new Traffic(url, key, earlierKey);
  // What fails already can be what the release repairs.
  const judged = await traffic.succeeds();
  if (!judged) console.error("Not every operation succeeds before the command: only the end counts.");
  let wrong: string[] = [];
  const [program = "", ...args] = command;
  const ended = once(spawn(program, args, { stdio: "inherit", env }), "close");
  const rounds: Promise<void>[] = [];
  const send = async () => {
    await traffic.round();
    if (!judged || wrong.length > 0) return;
    wrong = traffic.wrongAnswers();
    if (wrong.length > 0) console.error(`${wrong.join(", ")} ${WRONG_ANSWERS} times. ${ROLL_BACK}`);
  };
  const timer = setInterval(() => rounds.push(send()), PAUSE_MS);
  const [code, signal] = await ended.finally(() => clearInterval(timer));
  await Promise.all(rounds);

  const good = await traffic.succeeds();
  console.error(traffic.report());
  if (code !== 0) throw new Error(`${program} ended with ${code ?? signal}.`);
  if (!good) throw new Error("Not every operation succeeds after the command.");
  if (wrong.length > 0) throw new Error(`While the command ran, ${wrong.join(", ")}.`);
}

/** The command, for tests in their own process. */
export const program = configureProgram(new Command("npm run traffic --"))
  .description(
    "Runs a command, and sends a request to each operation every second until it ends. Fails if the command fails, or the last requests, or if an operation returned wrong answers meanwhile. It adds one pet, and needs an API key with both scopes in the variable API_KEY. EARLIER_API_KEY, a key that was issued before the release, is optional: it reads as well.",
  )
  .requiredOption("--url <URL>", "base URL, ending in /v1", parseBaseUrl)
  .argument("<command...>", "such as npx cdk deploy <stack>")
  .usage("--url <URL> -- <command>")
  .action(sendWhile);

if (import.meta.main) process.exitCode = await runProgram(program, "traffic");
