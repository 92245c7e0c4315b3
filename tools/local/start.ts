import { flushCompileCache } from "node:module";
import { inspect, parseArgs } from "node:util";
import { serve } from "./serve.ts";

const USAGE = `Usage: npm start -- [--watch]
Serves the API on this machine, with an embedded store.
  --watch  serves changes in functions/, lib/ and infra/ without a restart (npm run dev)
  --help   shows this text
Environment variables:
  PORT      port to listen on (default 3000); 0 selects a free one
  DATA_DIR  folder of the pets, the keys and the local API key (default .animal-store); one service per folder
  AWS_ENDPOINT_URL_DYNAMODB  another DynamoDB-compatible server instead of the embedded one`;

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

function fail({ message, cause }: Error): never {
  console.error(`animal-store: ${message}`, ...(cause ? [cause] : []));
  return process.exit(1);
}

const { watch, help } = readOptions();
if (help) {
  console.log(USAGE);
  process.exit();
}
// The kernel ends any other process, even in an endless loop of a function, but sends process 1 of a container no signal.
if (process.pid === 1)
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => process.exit());
process.on("uncaughtException", (error: NodeJS.ErrnoException) => {
  // After an error, such as a full disk, LevelDB refuses writes until it is opened again.
  if (String(error?.code).startsWith("LEVEL_"))
    fail(new Error(`The embedded store failed: ${error.message}`));
  console.error("Thrown outside of a request:", error);
});
inspect.defaultOptions.depth = 9; // an error that a function logs has causes
// A full disk or a closed pipe loses the log, not the service.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

try {
  // Its bundler takes time to load.
  const serveChanges = watch && (await import("./watch.ts")).rememberSources(process.env);
  const service = await serve(process.env);
  flushCompileCache(); // which Node writes at an exit, and not at a signal
  if (serveChanges) await serveChanges(service);
} catch (error) {
  fail(error as Error);
}
