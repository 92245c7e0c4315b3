import { Command } from "commander";
import { petFinder, petRemover } from "../lib/dynamo/pet-store.ts";
import { stringifyJson } from "../lib/http/json.ts";
import { parsePetIds } from "./arguments.ts";
import { AWS_CLIENT_OPTIONS } from "./aws-client-options.ts";
import { confirm } from "./confirm.ts";
import { escapeControls } from "./escape-controls.ts";
import { configureProgram, print, runProgram, type World } from "./run-program.ts";

/** `sh local/node.sh cli/delete-pet.ts <table> <ids>`: deletes pets by hand. */

/** The operators' command for an animal that must go. */
export const deletePetProgram = (world: World): Command =>
  configureProgram(new Command("sh local/node.sh cli/delete-pet.ts"), world)
    .description(
      "Deletes pets, and prints what they were. No pet gets their ids again, and no retry adds them again.",
    )
    .argument("<table>", "the pets table of a stage")
    .argument("<ids...>", "ids of pets", parsePetIds)
    .option("--yes", "do not ask before each deletion")
    .action(async (table: string, ids: bigint[], { yes }: { yes?: boolean }) => {
      const { find } = petFinder(table, AWS_CLIENT_OPTIONS);
      const { remove } = petRemover(table, AWS_CLIENT_OPTIONS);
      for (const id of ids) {
        const pet = await find(id);
        const text = escapeControls(stringifyJson(pet ?? {}));
        if (pet && !yes) await confirm(world, `Delete ${text} from ${table}? This cannot be undone.`);
        if (!pet || !(await remove(id))) throw new Error(`${table} has no pet with the id ${id}.`);
        await print(world, `${text}: deleted.`);
      }
    });

if (import.meta.main) process.exitCode = await runProgram(deletePetProgram(process), "delete-pet", process);
