import assert from "node:assert/strict";
import fc from "fast-check";
import { clientCommands, operatorCommands } from "./commands.ts";
import { Model } from "./model.ts";
import { send, type TestedService } from "./service.ts";
import { finishWalks } from "./steps.ts";

/**
 * Runs random commands against a service, and compares every response with the model of the contract. A failing run is
 * shrunk to the shortest one.
 *
 * @throws Error with the seed, the commands and the difference
 */
export async function checkModel(
  service: TestedService,
  { seed, runs, commands }: { seed: number; runs: number; commands: number },
): Promise<void> {
  const kinds = [...clientCommands, ...(service.keys ? operatorCommands : [])];
  const sequences = fc.commands(kinds, { maxCommands: commands, size: "max" });
  const property = fc.asyncProperty(sequences, async (sequence) => {
    const model = new Model(service.key);
    // Walks start before the first pet of the run.
    const body = '{"name":"First","categoryId":1,"status":"sold"}';
    const first = await send(service, "/pets", { secret: service.key, body });
    assert.equal(first.status, 201);
    model.pets.push(first.body as (typeof model.pets)[0]);
    await fc.asyncModelRun(() => ({ model, real: service }), sequence);
    await finishWalks(model, service);
  });
  await fc.assert(property, { seed, numRuns: runs });
}
