import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { local, servedStack } from "../../infra/stages.ts";
import { generateApiKey, scopes } from "../../lib/api-key.ts";
import { readStack } from "../../local/assembly/template.ts";
import { setAwsEnvironment } from "../../local/store/aws-environment.ts";
import { makeDataFolder, writeSecret } from "../../local/store/data-folder.ts";
import { fill, idOf } from "../fill.ts";
import { type HttpRequest, httpClient, operations } from "../http.ts";
import { type BenchOptions, format, table } from "../report.ts";
import { median } from "../stats.ts";
import { launch, type Service } from "./launch.ts";
import { installServerlessOffline } from "./serverless-offline.ts";

const CONNECTIONS = 8;
const PETS = 60;
const IDLE_SECONDS = 5;

const path = (file: string) => fileURLToPath(new URL(`../../local/${file}`, import.meta.url));

/** Starts the local service with its data in the folder, and serverless-offline on the same store. */
async function* startServices(folder: string, key: string): AsyncGenerator<Service> {
  const npmStart = ["sh", path("launch.sh"), path("start.ts")];
  yield launch(npmStart, { DATA_DIR: "data", AWS_ENDPOINT_URL_DYNAMODB: "" }, folder, key);

  setAwsEnvironment(JSON.parse(await readFile(join(folder, "data", "tables.json"), "utf8")));
  const offline = [process.execPath, "node_modules/serverless/bin/serverless.js", "offline"];
  // serverless-offline replaces the `scopes` of the authorizer's context with the claim of a JWT, except in AUTHORIZER.
  const AUTHORIZER = JSON.stringify({ keyId: "key_bench", scopes: scopes.join(" ") });
  yield launch(offline, { HOME: folder, AUTHORIZER }, folder, key);
}

/** Sends a request over every connection, and again as soon as the response arrives. Returns requests a second. */
async function load(url: string, key: string, request: HttpRequest, seconds: number): Promise<number> {
  const client = httpClient(url, key);
  const start = performance.now();
  let count = 0;
  const repeat = async () => {
    for (; performance.now() < start + seconds * 1000; count++) {
      const status = await client.send(request);
      if (status >= 400) throw new Error(`${url}${request.path} responded with ${status}.`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, repeat));
  const rate = count / ((performance.now() - start) / 1000);
  await client.close();
  return rate;
}

/** What was measured of a service, by the row of the report. */
type Results = Record<string, number>;

/** Starts both services, measures them in turns and stops them. Returns the results of `npm start` first. */
async function measure(folder: string, key: string, petsTable: string, seconds: number): Promise<Results[]> {
  const services: (Service & { results: Results })[] = [];
  try {
    for await (const service of startServices(folder, key)) {
      const results: Results = { "start, s": service.seconds };
      services.push({ ...service, results });
      await setTimeout(IDLE_SECONDS * 1000);
      results["memory when idle, MiB"] = await service.memory("VmRSS");
    }
    await fill(petsTable, PETS);
    for (const { name, request } of operations) {
      for (const { url, results } of services) {
        // Instances start and V8 compiles code, so the first second is not measured.
        await load(url, key, request(String(idOf(0))), 1);
        results[`${name}, requests/s`] = await load(url, key, request(String(idOf(0))), seconds);
      }
    }
    for (const { memory, results } of services) results["peak memory, MiB"] = await memory("VmHWM");
    return services.map(({ results }) => results);
  } finally {
    for (const { stop } of services.toReversed()) await stop();
  }
}

function row(name: string, rounds: readonly Results[][], label = name): string[] {
  const of = (n: 0 | 1) => median(rounds.map((results) => results[n]?.[name] ?? Number.NaN));
  const decimals = name === "start, s" ? 1 : 0;
  return [label, format(of(0), decimals), format(of(1), decimals), format(of(0) / of(1), 2)];
}

/** Compares `npm start` with serverless-offline on the same bundles, store and key. */
export async function localService({ quick, assembly }: BenchOptions) {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-bench-"));
  try {
    const stack = readStack(assembly, servedStack);
    installServerlessOffline(folder, stack);
    const key = generateApiKey(local.name);
    await makeDataFolder(join(folder, "data"));
    await writeSecret(join(folder, "data", "api-key"), key);
    const round = (seconds: number) => measure(folder, key, stack.outputs.PetsTableName ?? "", seconds);
    const first = await round(1);
    const rounds = quick ? [await round(1)] : [await round(5), await round(5), await round(5)];
    const rows = Object.keys(first[0] ?? {}).map((name) => row(name, rounds));
    const head = ["", "npm start", "serverless-offline", "ratio"];
    return { local: table(head, [row("start, s", [first], "first start, s"), ...rows]) };
  } finally {
    await rm(folder, { recursive: true });
  }
}
