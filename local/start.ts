import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { StackDefinition } from "../emulator/template/template.ts";
import { hashSources, readLocalStack, refreshAssembly, sourceFolders, templateFolders } from "./assembly.ts";
import { assemblyFolder, functionsFolder } from "./data-folder.ts";
import { type Service, serve } from "./serve.ts";
import { watchFolders } from "./watch.ts";

const USAGE = `Usage: npm start -- [--watch]
Serves the API on this machine, with an embedded store.
  --watch  serves changes in functions/, lib/ and infra/ without a restart (npm run dev)
  --help   shows this text
Environment variables:
  PORT      port to listen on (default 3000); 0 selects a free one
  DATA_DIR  folder of the pets, the keys and the local API key (default .animal-store); one service per folder
  AWS_ENDPOINT_URL_DYNAMODB  another DynamoDB-compatible server instead of the embedded one
  THROTTLE  "on" refuses requests above staging's rate with 429 (default off)
  NO_COLOR  turns off the colors of the log on a terminal`;

/** How long a stop can take after the last response before the process ends anyway. */
const STOP_TIMEOUT_MS = 2000;
/** Signals within this time are one: Ctrl-C sends one from the terminal and another from npm. In milliseconds. */
const SAME_SIGNAL_MS = 500;
/** How long the changed functions have the processor for themselves before a synthesis can start. */
const SYNTHESIS_DELAY_MS = 500;

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

/** Synthesizes the template if the sources have changed. @param code a folder with other code, see readLocalStack */
const readStack = async (code?: string, signal = stopping.signal) =>
  readLocalStack(await refreshAssembly(assemblyFolder, { signal }), code);

/** Serves the sources and their changes, and the last ones while a source has an error. */
async function serveChanges(): Promise<void> {
  const { createRebuild } = await import("../infra/bundle/rebuild.ts");
  const rebundle = createRebuild(functionsFolder);
  // Before the start reads the sources, so that no change is missed.
  const changes = watchFolders(sourceFolders);
  let template = await hashSources(templateFolders); // of the stack that is served
  service = await serve(() => rebundle().then(() => readStack(functionsFolder)), cleanUp, fail);
  let { stack, replace } = service;

  for await (const [changedAgain] of changes) {
    const signal = AbortSignal.any([stopping.signal, changedAgain]);
    /** Serves a part of the change. @returns what it serves, or undefined when the part has an error or has changed again */
    const show = async (part: string, read: () => Promise<StackDefinition>) => {
      try {
        signal.throwIfAborted();
        const next = await read();
        signal.throwIfAborted();
        replace(next);
        console.error(`The changed ${part} served.`);
        return next;
      } catch (error) {
        if (!signal.aborted) console.error(`The changed ${part} not served. ${(error as Error).message}`);
      }
    };
    // The functions first, with the last template, because a synthesis takes seconds.
    if (!(await show("functions are", () => rebundle().then(() => stack)))) continue;
    await pause(SYNTHESIS_DELAY_MS, undefined, { signal }).catch(() => undefined);
    const changed = await hashSources(templateFolders).catch(() => "");
    if (changed === template) continue;
    const next = await show("template is", () => readStack(functionsFolder, signal));
    if (next) [stack, template] = [next, changed];
  }
}

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
    if (values.watch) await serveChanges();
    else service = await serve(readStack, cleanUp, fail);
  } catch (error) {
    await fail(error);
  }
}
