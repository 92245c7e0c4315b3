import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { HttpServer, listen } from "../emulator/gateway/server.ts";
import { startStack } from "../emulator/running-stack.ts";
import { setAwsEnvironment } from "../emulator/store/aws-environment.ts";
import { checkEndpoint, createTables } from "../emulator/store/create-tables.ts";
import { DataInUse, lockFolder, type Store, startStore } from "../emulator/store/store.ts";
import { readStack, type StackDefinition, withCode } from "../emulator/template/template.ts";
import { localStage, servedStackName } from "../infra/stages.ts";
import { apiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { docsPage } from "../openapi/docs-page.ts";
import { refreshAssembly, sourceFolders } from "./assembly.ts";
import {
  assemblyFolder,
  changedFunctionsFolder,
  dataFolder,
  keyFile,
  type LocalStore,
  makeDataFolder,
  storeFolder,
  writeTables,
} from "./data-folder.ts";
import { ensureLocalKey } from "./local-key.ts";
import { standardErrorLog } from "./service-log.ts";
import { watchFolders } from "./watch.ts";

const USAGE = `Usage: npm start -- [--watch]
Serves the API on this machine, with an embedded store.
  --watch  serves changes in functions/, lib/ and infra/ without a restart (npm run dev)
  --help   shows this text
Environment variables:
  PORT      port to listen on (default 3000); 0 selects a free one
  DATA_DIR  folder of the pets, the keys and the local API key (default .animal-store); one service per folder
  AWS_ENDPOINT_URL_DYNAMODB  another DynamoDB-compatible server instead of the embedded one
  THROTTLE  "on" refuses requests above staging's rate with 429`;

/** How long a stop can take after the last response before the process ends anyway. */
const STOP_TIMEOUT_MS = 2000;
/** Signals within this time are one: Ctrl-C sends one from the terminal and another from npm. In milliseconds. */
const SAME_SIGNAL_MS = 500;

/** How long the changed functions have the processor for themselves before a synthesis starts. */
const SYNTHESIS_DELAY_MS = 500;

/** What to undo when the process ends, in reverse order. */
const cleanUp: (() => unknown)[] = [];

/** Aborted when the service stops, which also stops a synthesis. */
const stopping = new AbortController();

let server: HttpServer | undefined;
let stoppedAt = 0;

/** Stops the service when it has responded to the requests that it received. The second call does not wait for them. */
async function stop(status: number): Promise<void> {
  if (stopping.signal.aborted) {
    if (performance.now() - stoppedAt > SAME_SIGNAL_MS) server?.closeAllConnections();
    return;
  }
  stopping.abort();
  stoppedAt = performance.now();
  await server?.drain();
  // `process.exit` would wait for a thread that cannot be stopped; a signal does not.
  setTimeout(() => process.kill(process.pid, "SIGKILL"), STOP_TIMEOUT_MS).unref();
  for (const undo of cleanUp.toReversed()) await undo();
  process.exit(status);
}

async function fail(error: unknown): Promise<void> {
  if (!stopping.signal.aborted)
    console.error(`animal-store: ${error instanceof Error ? error.message : error}`);
  return stop(1);
}

function readPort(): number {
  const { PORT = "" } = process.env;
  const port = Number(PORT || 3000);
  if (!/^\d*$/.test(PORT) || port > 65535) throw new Error("PORT must be a number from 0 to 65535.");
  return port;
}

/** Returns the store: the embedded one, unless the environment names another. */
async function openStore(): Promise<LocalStore> {
  const { AWS_ENDPOINT_URL_DYNAMODB: endpoint } = process.env;
  if (endpoint) return { endpoint };
  const end = performance.now() + 10_000; // commands such as `npm run keys` have the data open for a moment
  const open = (): Promise<Store> =>
    startStore(storeFolder).catch((error) => {
      if (!(error instanceof DataInUse) || performance.now() > end) throw error;
      return pause(20).then(open);
    });
  const store = await open();
  cleanUp.push(store.close);
  return store;
}

async function synthesize(keep: string[] = [], signal = stopping.signal): Promise<string> {
  const onSynthesis = () => {
    if (process.stderr.isTTY) console.error("Synthesizing the template and bundling the functions ...");
  };
  return refreshAssembly(assemblyFolder, { onSynthesis, signal, keep });
}

async function start(watch: boolean): Promise<void> {
  const port = readPort();
  // The start can take seconds. A port that cannot be bound is reported before.
  const probe = createServer();
  await listen(probe, port);
  probe.close();
  await makeDataFolder();
  const lock = await lockFolder(dataFolder);
  cleanUp.push(() => lock.close());
  const store = await openStore();
  const { endpoint } = store;
  const aws = setAwsEnvironment(store);
  if (!store.accessKeyId) await checkEndpoint(endpoint);

  const assembly = await synthesize();
  let stack = readStack(assembly, servedStackName);
  const { tables, outputs, apiStageName } = stack;
  const apiKeysTable = outputs.ApiKeysTableName ?? "";
  await createTables(endpoint, tables);
  await writeTables({ ...store, apiKeysTable });
  const key = await ensureLocalKey(keyFile, apiKeyStore(apiKeysTable), localStage.name);

  const options = { aws, throttled: process.env.THROTTLE === "on", log: standardErrorLog() };
  let running = startStack(stack, options);
  cleanUp.push(() => running.stop());

  const docs = docsPage(key, apiStageName);
  let docsTurn: Promise<unknown> = Promise.resolve();
  server = new HttpServer(async (message, response) => {
    // The gateway refuses a request without exactly one Host.
    if (message.url?.startsWith("/docs") && message.headersDistinct.host?.length === 1) {
      // A file takes milliseconds to send. With one in each turn of the event loop, a thousand do not delay the API.
      const served = docsTurn.then(() => docs(message, response));
      docsTurn = served.then(() => nextTurn());
      if (await served) return;
    }
    running.gateway(message, response);
  });
  await listen(server, port);

  // Not localhost, which can be ::1: another program can listen there and receive the key.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const baseUrl = `${origin}/${apiStageName}`;
  console.log(`Base URL: ${baseUrl}`);
  console.log(`API key: ${key}`);
  console.log(`curl -H 'Authorization: Bearer ${key}' ${baseUrl}/pets`);
  console.log(`Docs: ${origin}/docs`);

  if (!watch) return;
  const replace = (next: StackDefinition, what: string) => {
    const started = startStack(next, options);
    running.drain();
    running = started;
    console.error(`The changed ${what} are served.`);
  };
  const { createRebuild } = await import("../infra/bundle/rebuild.ts");
  const rebundle = await createRebuild(changedFunctionsFolder);
  let served = assembly;
  watchFolders(sourceFolders, async (changedAgain) => {
    const signal = AbortSignal.any([stopping.signal, changedAgain]);
    try {
      // The functions first, with the old template, because a synthesis takes seconds.
      await rebundle();
      replace(withCode(stack, changedFunctionsFolder), "functions");
      await pause(SYNTHESIS_DELAY_MS, undefined, { signal });
      const changed = await synthesize([served], signal);
      stack = readStack(changed, servedStackName);
      served = changed;
      replace(stack, "sources");
    } catch (error) {
      if (!signal.aborted) console.error(`The changed sources are not served. ${(error as Error).message}`);
    }
  });
  // The first time takes longer. A mistake is reported after the next change.
  await rebundle().catch(() => undefined);
}

function readOptions() {
  try {
    return parseArgs({
      options: { watch: { type: "boolean", default: false }, help: { type: "boolean", short: "h" } },
    }).values;
  } catch (error) {
    console.error(`animal-store: ${(error as Error).message}\n${USAGE}`);
    return process.exit(2);
  }
}

const values = readOptions();
if (values.help) {
  console.log(USAGE);
} else {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(0));
  process.on("uncaughtException", fail);
  // A full disk or a closed pipe loses the log, not the service.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  await start(values.watch).catch(fail);
}
