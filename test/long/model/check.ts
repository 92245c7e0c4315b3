import assert from "node:assert/strict";
import fc from "fast-check";
import { scopes } from "../../../lib/api-key.ts";
import { errors } from "../../../lib/errors.ts";
import { errorsOf } from "../../../lib/operation.ts";
import { operations } from "../../../lib/operations.ts";
import { add, clientCommands, commands as commandsOf, finishWalks, operatorCommands } from "./commands.ts";
import { attack } from "./hostile.ts";
import type { Model } from "./model.ts";
import { checkRefusals } from "./refusals.ts";
import { startOwnService, type TestedService } from "./service.ts";

interface Options {
  seed: number;
  /** number of sequences of commands */
  runs: number;
  /** the most commands of a sequence */
  commands: number;
  /** the least number of hostile requests among the commands; 0 sends none */
  hostile: number;
}

/** Every response of every operation, such as `getPet 404`. Until its sunset, an operation is not gone. */
const responses = operations.flatMap((operation) => {
  const codes = errorsOf(operation).filter((code) => code !== "gone");
  const statuses = [operation.success.status, ...codes.map((code) => errors[code].status)];
  return statuses.map((status) => `${operation.id} ${status}`);
});

/**
 * Runs each command once, and then random commands against a service, and compares every response with the model of the
 * contract. Hostile requests, which have the run's key, must not disturb anybody. If one of several runs fails, it is
 * shrunk to the shortest one.
 *
 * @returns the statuses of the responses to the hostile requests, and what the first round has reached
 * @throws Error with the seed, the commands and the difference, or with the responses that the first round has not reached
 */
export async function checkModel(
  tested: Omit<TestedService, "reached">,
  { seed, runs, commands, hostile }: Options,
): Promise<{ statuses: number[]; reached: Set<string> }> {
  const service = { ...tested, reached: new Set<string>() };
  const { operator } = service;
  const statuses: number[] = [];
  const count = Math.ceil(hostile / runs / 2);
  const sendHostile = async (_model: Model, service: TestedService, seed: number) => {
    statuses.push(...(await attack(service, seed, count)));
  };
  const kinds = [
    ...clientCommands,
    ...(hostile > 0 ? [commandsOf([seed], [fc.noShrink(fc.nat())], sendHostile)] : []),
    ...(operator ? operatorCommands(operator) : []),
  ];
  const run = async (commands: Iterable<fc.AsyncCommand<Model, TestedService>>) => {
    const main = { secret: service.key, scopes, used: true };
    const model: Model = { start: Date.now(), pets: [], walks: [], keys: [main] };
    // Walks start before the first pet of the run.
    await add(model, service, { name: "First", categoryId: 1n, status: "sold" }, 0);
    await fc.asyncModelRun(() => ({ model, real: service }), commands);
    await finishWalks(model, service);
    operator?.checkLog();
  };
  await checkRefusals(service);
  await run(kinds.map(({ first }) => first));
  const missing = responses.filter((response) => !service.reached.has(response)).join(", ");
  assert.equal(
    missing,
    "",
    `The first commands of test/long/model/commands.ts, and refusals.ts, do not reach: ${missing}`,
  );
  const reached = new Set(service.reached);

  const sequences = fc.commands(
    kinds.map(({ random }) => random),
    { maxCommands: commands, size: "max" },
  );
  const property = fc.asyncProperty(sequences, run);
  await fc.assert(property, { seed, numRuns: runs, endOnFailure: runs === 1 });
  // The sequences are random, so they can have sent too few.
  for (let more = seed + 1; statuses.length < hostile; more++)
    await fc.assert(property, { seed: more, numRuns: 1 });
  return { statuses, reached };
}

/**
 * Checks a local service of its own, or the one at `options.url` with `options.key`. Prints the result.
 *
 * @throws as checkModel does
 */
export async function testModel(options: Options & { url?: string; key: string }): Promise<void> {
  const { seed, url, key } = options;
  console.log(`Seed ${seed}`);
  if (url) {
    // What is in front of another service can refuse hostile requests in its own way.
    await checkModel({ baseUrl: () => url, key }, { ...options, hostile: 0 });
  } else {
    await using service = await startOwnService();
    const { statuses } = await checkModel(service, options);
    for (const [status, { length }] of Map.groupBy(statuses.sort(), (status) => status))
      console.log(`${length} hostile requests got a ${status}`);
  }
  console.log("passed: the service did what the model says");
}
