import { Command, Option } from "commander";
import { wholeNumber } from "../whole-number.ts";
import type { Options } from "./schedules.ts";

const description = `Checks creations with an Idempotency-Key, and walks through the list, in every order of two callers and in random orders of two to four. Then breaks the stores on purpose, and expects to notice each break. It starts no service.`;

export const command = new Command("interleavings")
  .summary("runs creations and page walks in every order, with faults, against a model of DynamoDB")
  .description(description)
  .option("--schedules <number>", "random schedules of creations", wholeNumber(1), 100_000)
  .option("--seed <number>", "of the first random schedule", wholeNumber(0), 1)
  .addOption(new Option("--quick", "the part that npm test runs").default(false).implies({ schedules: 3000 }))
  .action(async (options: Options) => (await import("./schedules.ts")).checkSchedules(options));
