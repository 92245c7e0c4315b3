import { Command, Option } from "commander";
import { wholeNumber } from "../whole-number.ts";
import type { Options } from "./check.ts";

const description = `Runs random commands against a service and compares every response with a model of docs/contract.md. Without --url it tests a local service of its own: it restarts it, issues, rotates and revokes its keys, and sends hostile requests in between. A hostile request fails the run when its response is a 5xx, has an unknown header, or is a 4xx without an Error.`;

async function testModel({ url, ...options }: Options & { url?: string }): Promise<void> {
  const { API_KEY: key } = process.env;
  if (url && !key) command.error("error: --url needs an API key with both scopes in the variable API_KEY");
  const { checkModel } = await import("./check.ts");
  const { withOwnService } = await import("./service.ts");
  console.log(`Seed ${options.seed}`);
  // What is in front of another service can refuse hostile requests in its own way.
  const { sent, counts } = await (url && key
    ? checkModel({ baseUrl: () => url, key }, { ...options, hostile: 0 })
    : withOwnService((service) => checkModel(service, options)));
  console.log(`${sent} hostile requests`);
  for (const [status, number] of [...counts].sort(([a], [b]) => a - b)) console.log(`${status}: ${number}`);
  console.log("passed: the service did what the model says");
}

export const command = new Command("model")
  .summary("compares random commands, with hostile requests among them, with a model of docs/contract.md")
  .description(description)
  .addOption(
    new Option("--url <URL>", "another service's base URL, with a key in API_KEY").conflicts("hostile"),
  )
  .option("--runs <number>", "sequences of commands, or more for all hostile requests", wholeNumber(1), 20)
  .option("--commands <number>", "the most commands of a sequence", wholeNumber(1), 50)
  .option("--hostile <number>", "the least number of hostile requests", wholeNumber(0), 100_000)
  .addOption(
    new Option("--seed <number>", "repeats a run")
      .argParser(wholeNumber(0))
      .default(Date.now() % 2 ** 31, "random"),
  )
  .action(testModel);
