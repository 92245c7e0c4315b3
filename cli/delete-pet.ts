import { Command, InvalidArgumentError } from "commander";
import { petFinder, petRemover } from "../lib/dynamo/pet-store.ts";
import { stringifyJson } from "../lib/http/json.ts";
import { parseInt64 } from "../lib/int64.ts";
import { AWS_CLIENT_OPTIONS } from "./aws-client-options.ts";
import { configureProgram, runProgram } from "./run-program.ts";

/** `sh local/node.sh cli/delete-pet.ts <table> <id>`: deletes a pet by hand. */

function parsePetId(text: string): bigint {
  const id = parseInt64(text);
  if (id === undefined) throw new InvalidArgumentError("Use the id of a pet, such as 114677519594330.");
  return id;
}

const program = configureProgram(new Command("sh local/node.sh cli/delete-pet.ts"))
  .description("Deletes a pet, and prints what it was. No pet gets its id again, and no retry adds it again.")
  .argument("<table>", "the pets table of a stage")
  .argument("<id>", "of the pet", parsePetId)
  .action(async (table: string, id: bigint) => {
    const pet = await petFinder(table, AWS_CLIENT_OPTIONS).find(id);
    if (!pet || !(await petRemover(table, AWS_CLIENT_OPTIONS).remove(id)))
      throw new Error(`${table} has no pet with the id ${id}.`);
    console.log(`${stringifyJson(pet)}: deleted.`);
  });

await runProgram(program, "delete-pet");
