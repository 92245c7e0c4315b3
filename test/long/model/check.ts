import fc from "fast-check";
import { scopes } from "../../../lib/api-key.ts";
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

/**
 * Runs random commands against a service, and compares every response with the model of the contract. Hostile requests,
 * which have the run's key, must not disturb anybody. A failing run is shrunk to the shortest one.
 *
 * @returns the statuses of the responses to the hostile requests, and the responses that the model has expected
 * @throws Error with the seed, the commands and the difference
 */
export async function checkModel(
  tested: Omit<TestedService, "expected">,
  { seed, runs, commands, hostile }: Options,
): Promise<{ statuses: number[]; expected: Set<string> }> {
  const service = { ...tested, expected: new Set<string>() };
  const { operator } = service;
  const statuses: number[] = [];
  const count = Math.ceil(hostile / runs / 2);
  const sendHostile = async (_model: Model, service: TestedService, seed: number) => {
    statuses.push(...(await attack(service, seed, count)));
  };
  const kinds = [
    ...clientCommands,
    ...(hostile > 0 ? [commandsOf([fc.noShrink(fc.nat())], sendHostile)] : []),
    ...(operator ? operatorCommands(operator) : []),
  ];
  const sequences = fc.commands(kinds, { maxCommands: commands, size: "max" });
  const property = fc.asyncProperty(sequences, async (sequence) => {
    const main = { secret: service.key, scopes, used: true };
    const model: Model = { start: Date.now(), pets: [], walks: [], keys: [main] };
    await checkRefusals(service, main);
    // Walks start before the first pet of the run.
    await add(model, service, { name: "First", categoryId: 1n, status: "sold" }, 0);
    await fc.asyncModelRun(() => ({ model, real: service }), sequence);
    await finishWalks(model, service);
    operator?.checkLog();
  });
  await fc.assert(property, { seed, numRuns: runs });
  // The sequences are random, so they can have sent too few.
  for (let more = seed + 1; statuses.length < hostile; more++)
    await fc.assert(property, { seed: more, numRuns: 1 });
  return { statuses, expected: service.expected };
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
