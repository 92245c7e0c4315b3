import { Command, InvalidArgumentError, Option } from "commander";
import { httpClient } from "../http.ts";
import { body } from "../requests.ts";
import { measureOperations } from "./operations.ts";
import { measureStarts } from "./starts.ts";

/** `npm run bench:stage`: measures a deployed stage, or the local service, from the client's side. */

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError("Use a whole number from 1 to 9999.");
  return Number(text);
}

interface Options {
  url: string;
  key: string;
  rate: number;
  seconds: number;
  stack?: string;
}

async function measure({ url, key, rate, seconds, stack }: Options): Promise<void> {
  const baseUrl = url.replace(/\/$/, "");
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const created = await fetch(`${baseUrl}/pets`, { method: "POST", headers, body });
  if (created.status !== 201) throw new Error(`POST ${baseUrl}/pets responded with ${created.status}.`);
  const { id } = (await created.json()) as { id: number };

  const client = httpClient(baseUrl, key);
  const { table, failures } = await measureOperations(client, String(id), rate, seconds);
  await client.close();
  console.log(`${rate} requests a second for ${seconds} s, in turns:\n\n${table}`);
  if (stack) console.log(`\n${await measureStarts(stack)}`);
  if (failures.length > 0) {
    throw new Error(`${failures.length} requests failed: ${[...new Set(failures)].join(", ")}.`);
  }
}

await new Command("npm run bench:stage --")
  .description("Measures a running service from the client's side. It creates pets.")
  .requiredOption("--url <URL>", "base URL, ending in /v1")
  .addOption(
    new Option("--key <key>", "API key with both scopes; npm prints it, so prefer the variable")
      .env("API_KEY")
      .makeOptionMandatory(),
  )
  .option("--rate <number>", "requests a second; keep it below the stage's throttle", wholeNumber, 20)
  .option("--seconds <number>", "how long, after a warm-up of at most 5 s", wholeNumber, 60)
  .option(
    "--stack <name>",
    "also read from this stack's logs how long the functions' instances took to start",
  )
  .action(measure)
  .parseAsync()
  .catch((error: Error) => {
    console.error(`bench:stage: ${error.message}`);
    process.exitCode = 1;
  });
