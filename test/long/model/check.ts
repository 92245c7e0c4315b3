import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { startService } from "../../support/local-service.ts";
import { add, clientCommands, commands as commandsOf, finishWalks } from "./commands.ts";
import { attack } from "./hostile.ts";
import type { Model } from "./model.ts";
import type { TestedService } from "./service.ts";

interface Options {
  seed: number;
  /** number of sequences of commands */
  runs: number;
  /** the most commands of a sequence */
  commands: number;
  /** the least number of hostile requests among the commands */
  hostile: number;
}

/**
 * Runs random commands against a service, and compares every response with the model of the contract. Hostile requests,
 * which have the run's key, must not disturb anybody. If one of several runs fails, it is shrunk to the shortest one.
 *
 * @returns the statuses of the responses to the hostile requests
 * @throws Error with the seed, the commands and the difference
 */
export async function checkModel(service: TestedService, { seed, runs, commands, hostile }: Options) {
  const statuses: number[] = [];
  const count = Math.ceil(hostile / runs / 2);
  const sendHostile = async (_model: Model, service: TestedService, seed: number) => {
    statuses.push(...(await attack(service, seed, count)));
  };
  const kinds = [...clientCommands, commandsOf([fc.noShrink(fc.nat())], sendHostile)];
  const sequences = fc.commands(kinds, { maxCommands: commands, size: "max" });
  const property = fc.asyncProperty(sequences, async (commands) => {
    const model: Model = { start: Date.now(), pets: [], walks: [] };
    // Walks start before the first pet of the run.
    await add(model, service, { name: "First", categoryId: 1n, status: "sold" });
    await fc.asyncModelRun(() => ({ model, real: service }), commands);
    await finishWalks(model, service);
  });
  await fc.assert(property, { seed, numRuns: runs, endOnFailure: runs === 1 });
  // The sequences are random, so they can have sent too few.
  for (let more = seed + 1; statuses.length < hostile; more++)
    await fc.assert(property, { seed: more, numRuns: 1 });
  return statuses;
}

/** Checks a local service of its own. Prints the result. @throws as checkModel does */
export async function testModel(options: Options): Promise<void> {
  console.log(`Seed ${options.seed}`);
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-model-"));
  const service = await startService({ DATA_DIR: folder.path });
  const statuses = await checkModel(service, options).finally(service.stop);
  for (const [status, { length }] of Map.groupBy(statuses.sort(), (status) => status))
    console.log(`${length} hostile requests got a ${status}`);
  console.log("passed: the service did what the model says");
}
