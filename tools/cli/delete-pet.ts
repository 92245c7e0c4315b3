import { Command, InvalidArgumentError } from "commander";
import { petsTableId } from "../../infra/names.ts";
import { petFinder, petRemover } from "../../lib/dynamo/pet-store.ts";
import { stringifyJson } from "../../lib/http/json.ts";
import { parseInt64 } from "../../lib/int64.ts";
import { configureProgram, runProgram } from "./run-program.ts";
import { findTable, stageOption } from "./stage-table.ts";

/** `sh tools/node.sh tools/cli/delete-pet.ts --stage <stage> <id>`: deletes a pet by hand. */

function parsePetId(text: string): bigint {
  const id = parseInt64(text);
  if (id === undefined) throw new InvalidArgumentError("Use the id of a pet, such as 114677519594330.");
  return id;
}

const program = configureProgram(new Command("sh tools/node.sh tools/cli/delete-pet.ts"))
  .description("Deletes a pet, and prints what it was. No pet gets its id again, and no retry adds it again.")
  .addOption(stageOption)
  .argument("<id>", "of the pet", parsePetId)
  .action(async (id: bigint, { stage }: { stage: string }) => {
    const place = await findTable(stage, petsTableId);
    const pet = await petFinder(...place).find(id);
    if (!pet || !(await petRemover(...place).remove(id)))
      throw new Error(`No pet in ${stage} has the id ${id}.`);
    console.log(`${stringifyJson(pet)}: deleted.`);
  });

await runProgram(program, "delete-pet");
