import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import { exampleOf } from "../lib/examples.ts";
import type { Operation } from "../lib/operation.ts";
import { createPet } from "../lib/operations/create-pet.ts";
import { operations } from "../lib/operations.ts";
import { parseBaseUrl } from "./arguments.ts";
import { configureProgram, runProgram } from "./run-program.ts";

/**
 * `npm run traffic -- --url <base URL> -- <command>`: sends requests while a deployment runs, so that the alarms of a
 * canary have something to measure.
 */

export const PAUSE_MS = 1000;
const TIMEOUT_MS = 10_000;
/** How many first and last rounds a check has to succeed: a request right after a deployment can still fail. */
export const TRIES = 3;
/** How often an operation returns the same wrong status until it is no accident. A canary gets a tenth of the calls. */
export const WRONG_ANSWERS = 5;
/** API Gateway caches the authorizer's result for each spelling of the header, so that another one asks the authorizer. */
export const SPELLINGS = 60;
const ROLL_BACK = `To roll the deployment back while it runs, stop it:
  aws deploy list-deployments --include-only-statuses InProgress
  aws deploy stop-deployment --deployment-id <id> --auto-rollback-enabled`;
/** An id that no pet has, for requests that need one before a creation has returned a pet. */
const NO_PET = "1";
/** The `Idempotency-Key` of all creations but those for a deletion, so that they add one pet at most (contract 4.8). */
const RUN = "deployment-check";
/** What a pet of a run has in place of the examples. */
const PET: Record<string, unknown> = { name: "Deployment check", categoryId: 0, status: "sold" };

/** The body of an operation: its example, with the values of the run's pet. A body can have a part of a pet's members. */
const bodyOf = ({ body }: Operation) =>
  body ? { body: JSON.stringify(exampleOf(body), (name, value) => PET[name] ?? value) } : {};

const isServed = ({ deprecation }: Operation) => !deprecation || Date.now() < deprecation.sunset.getTime();

/** What each round sends to an operation, and the failures: a status, or the code of a network error. */
interface Check {
  name: string;
  operation: Operation;
  /** empty for a request without a key */
  key: string;
  /** the status of a success */
  expected: number;
  failures: (string | number)[];
}

const namesOf = (checks: Check[]) => checks.map(({ name }) => name).join(", ");

/** Sends rounds of requests, one for each check, and counts the failures. */
class Traffic {
  readonly #url: string;
  readonly #checks: Check[];
  /** The `Idempotency-Key`s of pets that a deletion has left, for the next deletions. */
  readonly #undeleted: string[] = [];
  #rounds = 0;
  #petId = NO_PET;

  /** @param existingKey a key that was issued before the deployment, for the operations that only read */
  constructor(url: string, key: string, existingKey: string) {
    this.#url = url.replace(/\/$/, "");
    this.#checks = operations.filter(isServed).flatMap((operation: Operation) => {
      const { id, method, success } = operation;
      const check = (name: string, key: string, expected: number = success.status): Check => {
        return { name, operation, key, expected, failures: [] };
      };
      const own = [check(id, key), check(`${id} without a key`, "", 401)];
      const reads = existingKey && method === "GET";
      return reads ? [...own, check(`${id} with the existing key`, existingKey)] : own;
    });
  }

  /** Sends rounds until each check has succeeded in one, a few times at most. @returns the checks that have not */
  async failing(): Promise<Check[]> {
    let failing = this.#checks;
    for (let tries = 1; ; tries++) {
      const failed = await this.round();
      failing = failing.filter((check) => failed.includes(check));
      if (failing.length === 0 || tries === TRIES) return failing;
      await setTimeout(PAUSE_MS);
    }
  }

  /** Sends a round. @returns the checks that failed */
  async round(): Promise<Check[]> {
    const scheme = "Bearer".padEnd("Bearer ".length + (this.#rounds++ % SPELLINGS));
    const results = this.#checks.map(async (check) => {
      const failure = await this.#send(check, check.key && scheme + check.key);
      if (failure) check.failures.push(failure);
      return failure ? [check] : [];
    });
    return (await Promise.all(results)).flat();
  }

  /**
   * Returns the statuses that are wrong and no accident, in words. A lost connection is none of them.
   *
   * @param unjudged checks that failed before the command: an operation that it adds, or one that it repairs
   */
  wrongAnswers(unjudged: Check[]): string[] {
    const judged = this.#checks.filter((check) => !unjudged.includes(check));
    return judged.flatMap(({ name, failures }) =>
      [...Map.groupBy(failures, (kind) => kind)]
        .filter(([kind, same]) => typeof kind === "number" && same.length >= WRONG_ANSWERS)
        .map(([status]) => `${name} returned ${status}`),
    );
  }

  /** Sends the request of a check. @returns the failure, if it failed */
  async #send({ operation, expected }: Check, authorization: string) {
    try {
      if (operation.method === "DELETE" && authorization) return await this.#delete(operation, authorization);
      // Without a key it must be refused, whatever the pet.
      const petId = authorization ? this.#petId : NO_PET;
      const { status, text } = await this.#request(operation, authorization, petId, RUN);
      if (status === 404 && authorization && operation.path.includes("{") && petId === NO_PET)
        return undefined;
      if (status === 201 && operation.id === createPet.id) this.#petId = String(JSON.parse(text).id);
      return status === expected ? undefined : status;
    } catch (error) {
      const { cause, name } = error as Error & { cause?: NodeJS.ErrnoException };
      return cause?.code ?? name;
    }
  }

  /** Deletes a pet that it creates for this. While deletions fail, the next one gets the same pet. */
  async #delete(operation: Operation, authorization: string) {
    const key = this.#undeleted.pop() ?? randomUUID();
    const { text } = await this.#request(createPet, authorization, NO_PET, key);
    const { id = NO_PET } = JSON.parse(text);
    const { status } = await this.#request(operation, authorization, String(id), key);
    if (status === 404 && id === NO_PET) return undefined; // the creation failed, which is the failure of another check
    if (status === operation.success.status) return undefined;
    if (status !== 404) this.#undeleted.push(key);
    return status;
  }

  async #request(operation: Operation, authorization: string, petId: string, idempotencyKey: string) {
    const { method, path } = operation;
    const response = await fetch(this.#url + path.replace(/\{\w+\}/, petId), {
      method,
      headers: {
        "Content-Type": "application/json",
        "Idempotency-Key": idempotencyKey,
        ...(authorization && { Authorization: authorization }),
      },
      ...bodyOf(operation),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, text: await response.text() };
  }

  /** One line for each check. */
  report(): string {
    const lines = this.#checks.map(({ name, failures }) => {
      const kinds = failures.length > 0 ? ` (${[...new Set(failures)].join(", ")})` : "";
      return `${name}: ${this.#rounds} requests, ${failures.length} failed${kinds}`;
    });
    return lines.join("\n");
  }
}

async function sendWhile(command: string[], { url }: { url: string }): Promise<void> {
  const { API_KEY: key, EXISTING_API_KEY: existingKey = "", ...env } = process.env;
  if (!key) throw new Error("Set API_KEY to an API key with both scopes.");
  const traffic = new Traffic(url, key, existingKey);
  const before = await traffic.failing();
  if (before.length > 0)
    console.error(`These fail before the command, so only their end counts: ${namesOf(before)}.`);
  let wrong: string[] = [];
  const [program = "", ...args] = command;
  const ended = once(spawn(program, args, { stdio: "inherit", env }), "close");
  const rounds: Promise<void>[] = [];
  const send = async () => {
    await traffic.round();
    if (wrong.length > 0) return;
    wrong = traffic.wrongAnswers(before);
    if (wrong.length > 0) console.error(`${wrong.join(", ")} ${WRONG_ANSWERS} times. ${ROLL_BACK}`);
  };
  const timer = setInterval(() => rounds.push(send()), PAUSE_MS);
  const [code, signal] = await ended.finally(() => clearInterval(timer));
  await Promise.all(rounds);

  const after = await traffic.failing();
  console.error(traffic.report());
  if (code !== 0) throw new Error(`${program} ended with ${code ?? signal}.`);
  if (after.length > 0) throw new Error(`These fail after the command: ${namesOf(after)}.`);
  if (wrong.length > 0) throw new Error(`While the command ran, ${wrong.join(", ")}.`);
}

/** The command, for tests in their own process. */
export const program = configureProgram(new Command("npm run traffic --"))
  .description(
    "Runs a command, and sends requests to each operation every second until it ends: with the API key in the variable API_KEY, which needs both scopes, and without a key. Fails if the command or the last requests fail, or if an operation that worked before keeps returning the same wrong status meanwhile. It adds one pet, and deletes those that it adds for deletions. With EXISTING_API_KEY, a key that was issued before the deployment, it also reads with that key.",
  )
  .requiredOption("--url <URL>", "base URL, ending in /v1", parseBaseUrl)
  .argument("<command...>", "such as npx cdk deploy <stack>")
  .usage("--url <URL> -- <command>")
  .action(sendWhile);

if (import.meta.main) process.exitCode = await runProgram(program, "traffic");
