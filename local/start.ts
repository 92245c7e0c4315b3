import { parseArgs } from "node:util";
import type { StackDefinition } from "../emulator/template/template.ts";
import { currentStack } from "./assembly.ts";
import { type Service, serve } from "./serve.ts";

const USAGE = `Usage: npm start -- [--watch]
Serves the API on this machine, with an embedded store.
  --watch  serves changes in functions/, lib/ and infra/ without a restart (npm run dev)
  --help   shows this text
Environment variables:
  PORT      port to listen on (default 3000); 0 selects a free one
  DATA_DIR  folder of the pets, the keys and the local API key (default .animal-store); one service per folder
  AWS_ENDPOINT_URL_DYNAMODB  another DynamoDB-compatible server instead of the embedded one
  NO_COLOR  turns off the colors of the log on a terminal`;

/** How long a stop can take after the last response before the process ends anyway. */
const STOP_TIMEOUT_MS = 2000;
/** Signals within this time are one: Ctrl-C sends one from the terminal and another from npm. In milliseconds. */
const SAME_SIGNAL_MS = 500;

/** What to undo when the process ends. */
const cleanUp = new AsyncDisposableStack();

/** Aborted when the service stops, which also stops a synthesis. */
const stopping = new AbortController();

let service: Service | undefined;
let stoppedAt = 0;

/** Stops the service when it has responded to the requests that it received. The second call does not wait for them. */
async function stop(status: number): Promise<void> {
  if (stopping.signal.aborted) {
    if (performance.now() - stoppedAt > SAME_SIGNAL_MS) service?.server.closeAllConnections();
    return;
  }
  stopping.abort();
  stoppedAt = performance.now();
  await service?.server.drain();
  // `process.exit` would wait for a thread that cannot be stopped; a signal does not.
  setTimeout(() => process.kill(process.pid, "SIGKILL"), STOP_TIMEOUT_MS).unref();
  await cleanUp.disposeAsync();
  process.exit(status);
}

async function fail(error: unknown): Promise<void> {
  if (!stopping.signal.aborted)
    console.error(`animal-store: ${error instanceof Error ? error.message : error}`);
  return stop(1);
}

const start = async (readStack: () => Promise<StackDefinition>): Promise<Service> => {
  service = await serve(process.env, readStack, cleanUp, fail);
  return service;
};

function readOptions() {
  try {
    return parseArgs({
      options: { watch: { type: "boolean", default: false }, help: { type: "boolean", short: "h" } },
    }).values;
  } catch (error) {
    console.error(`error: ${(error as Error).message}\n(Add --help for usage.)`);
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
  try {
    // Its bundler takes time to load.
    if (values.watch)
      await (await import("./serve-changes.ts")).serveChanges(process.env, start, stopping.signal);
    else await start(() => currentStack(process.env, { signal: stopping.signal }));
  } catch (error) {
    await fail(error);
  }
}
