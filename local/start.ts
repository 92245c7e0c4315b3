import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { synthesize } from "../infra/assembly/synthesize.ts";
import { readStack } from "../infra/assembly/template.ts";
import { local, localStack } from "../infra/stages.ts";
import { keyStore } from "../lib/dynamo/key-store.ts";
import { docsPage } from "../openapi/docs-page.ts";
import { setAwsEnvironment } from "./aws-environment.ts";
import { keyFile, makeDataFolder, storeFolder, writeTables } from "./data-folder.ts";
import { FunctionPool } from "./function-pool.ts";
import { createGateway } from "./gateway.ts";
import { localKey } from "./local-key.ts";
import { startStore } from "./store.ts";
import { createTables } from "./tables.ts";
import { Throttle } from "./throttle.ts";

const port = /^\d*$/.test(process.env.PORT ?? "") ? Number(process.env.PORT || 3000) : Number.NaN;

// The store makes its files as the system lets it; whatever its folder was before, they are their owner's alone.
process.umask(0o077);

/** What has to be undone at the end, the last first. */
const cleanUp: (() => unknown)[] = [];

/** Shows a person what takes so long; a log file need not know. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${text}\n`);
}

let stopping = false;

async function stop(status: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  // A part that will not end must not keep the process.
  setTimeout(() => process.exit(status), 5000).unref();
  for (const undo of cleanUp.toReversed()) await undo();
  process.exit(status);
}

async function fail(error: unknown): Promise<void> {
  if (!stopping) console.error(`animal-store: ${error instanceof Error ? error.message : error}`);
  return stop(1);
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        error.code === "EADDRINUSE" ? new Error(`Port ${port} is in use. Set PORT to another one.`) : error,
      );
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}

/** Lets the requests under way end, but no client hold its connection for long. */
function close(server: Server): Promise<unknown> {
  setTimeout(() => server.closeAllConnections(), 2000).unref();
  return new Promise((resolve) => server.close(resolve));
}

async function embeddedStore(): Promise<string> {
  const store = await startStore(storeFolder);
  cleanUp.push(store.close);
  return store.endpoint;
}

async function start(): Promise<void> {
  if (!(port <= 65535)) throw new Error("PORT must be a number from 0 to 65535.");
  // Found out now and not after the seconds that bundling takes.
  const probe = createServer();
  await listen(probe);
  await close(probe);

  await makeDataFolder();
  const embedded = !process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB || (await embeddedStore());

  progress("Synthesizing the template and bundling the functions ...");
  const assembly = await mkdtemp(join(tmpdir(), "animal-store-"));
  cleanUp.push(() => rm(assembly, { recursive: true }));
  const synthesis = new AbortController();
  cleanUp.push(() => synthesis.abort());
  await synthesize(assembly, [localStack], synthesis);
  const stack = readStack(assembly, localStack);

  progress("Creating the tables and the local key ...");
  // What Lambda would give the functions, and this process's own client needs as well.
  const aws = setAwsEnvironment(endpoint);
  await createTables(endpoint, stack.tables);
  const keysTable = stack.outputs.KeysTableName ?? "";
  await writeTables({ endpoint, embedded, keysTable });
  const key = await localKey(keyFile, keyStore(keysTable), local.name);

  const pools = new Map(
    stack.functions.map((definition) => {
      const environment = { ...definition.environment };
      if ("STAGE" in environment) environment.STAGE = local.name; // of the template, the one value that is replaced
      return [definition.name, new FunctionPool({ ...definition, environment }, aws, console.error)];
    }),
  );
  cleanUp.push(() => {
    for (const pool of pools.values()) pool.stop();
  });

  const throttle = process.env.THROTTLE === "on" ? new Throttle(stack.throttling) : undefined;
  const docs = docsPage(key, stack.stageName);
  const gateway = createGateway(stack, pools, throttle && { throttle });
  const server = createServer(async (message, response) => {
    if (!(await docs(message, response))) gateway(message, response);
  });
  await listen(server);
  cleanUp.push(() => close(server));

  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const baseUrl = `${origin}/${stack.stageName}`;
  console.log(`Base URL: ${baseUrl}`);
  console.log(`API key: ${key}`);
  console.log(`curl -H 'Authorization: Bearer ${key}' ${baseUrl}/pets`);
  console.log(`Docs: ${origin}/docs`);
}

// Ctrl-C comes twice, from the terminal and from npm; the second must not end what the first began.
process.on("SIGINT", () => stop(0));
process.on("SIGTERM", () => stop(0));
process.on("uncaughtException", fail);
await start().catch(fail);
