import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { readStack } from "../../infra/assembly/template.ts";
import { localStage, servedStackName } from "../../infra/stages.ts";
import { generateApiKey, scopes } from "../../lib/api-key.ts";
import { creationStore } from "../../lib/dynamo/pet-store.ts";
import { PetStatus } from "../../lib/pet.ts";
import { setAwsEnvironment } from "../../local/store/aws-environment.ts";
import { makeDataFolder, writeSecret } from "../../local/store/data-folder.ts";
import { type BenchOptions, format, table } from "../report.ts";
import { body } from "../requests.ts";
import { median } from "../stats.ts";
import { launch, type Service } from "./launch.ts";
import { installServerlessOffline } from "./serverless-offline.ts";

const CONNECTIONS = 8;
/** How many pets of each status the store has. */
const PETS = 20;

interface Request {
  /** appended to the base URL */
  path: string;
  method?: "POST";
  body?: string;
}

/** The requests that are measured. They get the id of an existing pet. */
const requests: Record<string, (petId: bigint) => Request> = {
  "listPets, all": () => ({ path: "/pets" }),
  "listPets, one status": () => ({ path: "/pets?status=sold" }),
  getPet: (petId) => ({ path: `/pets/${petId}` }),
  createPet: () => ({ path: "/pets", method: "POST", body }),
};

const path = (file: string) => fileURLToPath(new URL(`../../local/${file}`, import.meta.url));

/** Makes a data folder with an API key in a folder. Returns the key. */
async function makeKey(folder: string): Promise<string> {
  const key = generateApiKey(localStage.name);
  await makeDataFolder(join(folder, "data"));
  await writeSecret(join(folder, "data", "api-key"), key);
  return key;
}

/** Starts a service in a folder that has a data folder with an API key. */
type Start = (folder: string, key: string) => Promise<Service>;

/** Starts the local service. */
const startLocal: Start = (folder, key) => {
  const command = ["sh", path("node.sh"), path("start.ts")];
  return launch(command, { DATA_DIR: "data", AWS_ENDPOINT_URL_DYNAMODB: "" }, folder, key);
};

/** Starts serverless-offline on the store of the local service. */
const startServerlessOffline: Start = (folder, key) => {
  const command = [process.execPath, "node_modules/serverless/bin/serverless.js", "offline"];
  // serverless-offline replaces the `scopes` of the authorizer's context with the claim of a JWT, except in AUTHORIZER.
  const AUTHORIZER = JSON.stringify({ keyId: "key_bench", scopes: scopes.join(" ") });
  return launch(command, { HOME: folder, AUTHORIZER }, folder, key);
};

/** Adds pets to the store of the local service. Returns the id of one. */
async function fill(petsTable: string): Promise<bigint> {
  const { create } = creationStore({ pets: petsTable, claims: "-" }, localStage.statusShards.write);
  const createEach = () => PetStatus.options.map((status) => create({ name: "Rex", categoryId: 1n, status }));
  const [first] = await Promise.all(Array.from({ length: PETS }, createEach).flat());
  return first?.id ?? 0n;
}

/** Sends a request over every connection, and again as soon as the response arrives. Returns requests a second. */
async function load(baseUrl: string, key: string, request: Request, seconds: number): Promise<number> {
  const { origin, pathname } = new URL(baseUrl);
  const pool = new Pool(origin);
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const options = { method: "GET", ...request, path: pathname + request.path, headers } as const;
  const start = performance.now();
  let count = 0;
  const repeat = async () => {
    do {
      const response = await pool.request(options);
      await response.body.dump();
      if (response.statusCode >= 300)
        throw new Error(`${baseUrl}${request.path} responded with ${response.statusCode}.`);
      count++;
    } while (performance.now() < start + seconds * 1000);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, repeat)).finally(() => pool.close());
  return count / ((performance.now() - start) / 1000);
}

/** What was measured of a service, by the row of the report. */
type Results = Record<string, number>;

/**
 * Starts services one after the other, measures them in turns and stops them.
 *
 * @param starts the first one starts the local service
 * @param key what makeKey returned for the folder
 * @param seconds how long to measure each request
 * @returns the results of each service
 * @throws Error when a service does not start, or a request has no success
 */
async function measure(
  starts: readonly Start[],
  folder: string,
  key: string,
  petsTable: string,
  seconds: number,
): Promise<Results[]> {
  const services: (Service & { results: Results })[] = [];
  try {
    for (const start of starts) {
      const service = await start(folder, key);
      const results: Results = { "start, s": service.seconds };
      services.push({ ...service, results });
      setAwsEnvironment(JSON.parse(await readFile(join(folder, "data", "tables.json"), "utf8")));
      await setTimeout(seconds * 1000);
      results["memory when idle, MiB"] = await service.memory("VmRSS");
    }
    const petId = await fill(petsTable);
    for (const [name, request] of Object.entries(requests)) {
      for (const { url, results } of services) {
        // Instances start and V8 compiles code, so the first part is not measured.
        await load(url, key, request(petId), seconds / 5);
        results[`${name}, requests/s`] = await load(url, key, request(petId), seconds);
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
    const stack = readStack(assembly, servedStackName);
    installServerlessOffline(folder, stack);
    const key = await makeKey(folder);
    const starts = [startLocal, startServerlessOffline];
    const round = (seconds: number) =>
      measure(starts, folder, key, stack.outputs.PetsTableName ?? "", seconds);
    const first = await round(1);
    const rounds = quick ? [await round(1)] : [await round(5), await round(5), await round(5)];
    const rows = Object.keys(first[0] ?? {}).map((name) => row(name, rounds));
    const head = ["", "npm start", "serverless-offline", "ratio"];
    return { local: table(head, [row("start, s", [first], "first start, s"), ...rows]) };
  } finally {
    await rm(folder, { recursive: true });
  }
}
