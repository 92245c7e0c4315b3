import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * The process in which one instance of a function runs, as Lambda's Node runtime runs it: one event at
 * a time, only the function's own environment, the log as lines of JSON.
 * Arguments: the folder with the code, and the handler as `file.export`.
 */
const [, , code = "", handlerName = ""] = process.argv;
const [file = "", exportName = ""] = handlerName.split(".");

/** What the parent sends for an invocation. */
export interface Invocation {
  event: unknown;
  requestId: string;
  /** milliseconds since 1970 at which the parent ends this process */
  deadline: number;
}

/** What it gets back: a result, or an error as Lambda reports it. */
export type Outcome = { result: unknown } | { errorType: string; errorMessage: string };

let requestId = "";
for (const level of ["info", "warn", "error"] as const) {
  console[level] = (message: unknown) => {
    const line = { timestamp: new Date().toISOString(), level: level.toUpperCase(), requestId, message };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  };
}

// Ctrl-C reaches every process of the terminal; the parent ends this one when its work is done.
process.on("SIGINT", () => undefined);
process.on("disconnect", () => process.exit());

const module = join(code, `${file}.mjs`);
const { [exportName]: handler } = existsSync(module)
  ? await import(module)
  : createRequire(import.meta.url)(join(code, `${file}.js`));

process.on("message", async (invocation: Invocation) => {
  requestId = invocation.requestId;
  const context = {
    awsRequestId: requestId,
    getRemainingTimeInMillis: () => invocation.deadline - Date.now(),
  };
  let outcome: Outcome;
  try {
    outcome = { result: await handler(invocation.event, context) };
  } catch (error) {
    const { name, message } = error as Error;
    outcome = { errorType: name, errorMessage: message };
  }
  process.send?.(outcome);
});
