import assert from "node:assert/strict";
import fc from "fast-check";
import { clientCommands, hostileCommand, operatorCommands } from "./commands.ts";
import type { HostileResult } from "./hostile.ts";
import { Model } from "./model.ts";
import { call, type TestedService } from "./service.ts";
import { finishWalks } from "./steps.ts";

export interface Options {
  seed: number;
  /** number of sequences of commands */
  runs: number;
  /** the most commands of a sequence */
  commands: number;
  /** the least number of hostile requests among the commands; 0 sends none */
  hostile: number;
}

/**
 * Runs random commands against a service, and compares every response with the model of the contract. A failing run is
 * shrunk to the shortest one.
 *
 * @returns the responses to the hostile requests
 * @throws Error with the seed, the commands and the difference
 */
export async function checkModel(
  service: TestedService,
  { seed, runs, commands, hostile }: Options,
): Promise<HostileResult> {
  const { control } = service;
  const result: HostileResult = { sent: 0, counts: new Map() };
  const kinds = [
    ...clientCommands,
    ...(hostile > 0 ? [hostileCommand(Math.ceil(hostile / runs / 2), result)] : []),
    ...(control ? operatorCommands(control) : []),
  ];
  const sequences = fc.commands(kinds, { maxCommands: commands, size: "max" });
  const property = fc.asyncProperty(sequences, async (sequence) => {
    const model = new Model(service.key);
    // Walks start before the first pet of the run.
    const body = '{"name":"First","categoryId":1,"status":"sold"}';
    const first = await call(service, "/pets", { secret: service.key, body });
    assert.equal(first.status, 201);
    model.pets.push(first.body as (typeof model.pets)[0]);
    await fc.asyncModelRun(() => ({ model, real: service }), sequence);
    await finishWalks(model, service);
    control?.checkLog();
  });
  await fc.assert(property, { seed, numRuns: runs });
  // The sequences are random, so they can have sent too few.
  for (let more = seed + 1; result.sent < hostile; more++)
    await fc.assert(property, { seed: more, numRuns: 1 });
  return result;
}
