import { Command, Option } from "commander";
import { wholeNumber } from "../whole-number.ts";

interface Options {
  url?: string;
  runs: number;
  commands: number;
  hostile: number;
  seed: number;
}

async function testModel({ url, seed, ...options }: Options): Promise<void> {
  const { API_KEY: key } = process.env;
  if (url && !key) command.error("error: --url needs an API key with both scopes in the variable API_KEY");
  const { checkModel } = await import("./check.ts");
  const { withOwnService } = await import("./service.ts");
  console.log(`Seed ${seed}`);
  const start = Date.now();
  const { sent, counts } =
    url && key
      ? // What is in front of another service can refuse hostile requests in its own way.
        await checkModel({ baseUrl: url, key }, { ...options, seed, hostile: 0 })
      : await withOwnService((service) => checkModel(service, { ...options, seed }));
  console.log(`${sent} hostile requests`);
  for (const [status, number] of [...counts].sort(([a], [b]) => a - b)) console.log(`${status}: ${number}`);
  const seconds = Math.round((Date.now() - start) / 1000);
  console.log(`passed: the service did what the model says, for ${seconds} s`);
}

export const command = new Command("model")
  .summary("compares random commands, with hostile requests among them, with a model of docs/contract.md")
  .description(
    [
      "Runs random commands against a service and compares every response with a model of docs/contract.md.",
      "Without --url it tests a local service of its own. It restarts it, issues, rotates and revokes its keys, and sends hostile requests in between.",
      "A hostile request fails the run when its response is a 5xx, has an unknown header, or is a 4xx without an Error.",
    ].join("\n"),
  )
  .addOption(
    new Option("--url <URL>", "test another service: its base URL, with the key in API_KEY").conflicts(
      "hostile",
    ),
  )
  .option(
    "--runs <number>",
    "sequences of commands, or more to send all hostile requests",
    wholeNumber(1),
    20,
  )
  .option("--commands <number>", "the most commands of a sequence", wholeNumber(1), 50)
  .option("--hostile <number>", "the least number of hostile requests", wholeNumber(0), 100_000)
  .addOption(
    new Option("--seed <number>", "repeats a run")
      .argParser(wholeNumber(0))
      .default(Date.now() % 2 ** 31, "random"),
  )
  .action(testModel);
