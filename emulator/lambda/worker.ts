import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type { FunctionDefinition } from "../template/template.ts";
import { type Failure, failureOf } from "./failure.ts";

// The thread of one instance of a function. It runs the function as Lambda's Node runtime does: one event at a time,
// and the log as lines of JSON.

export type RuntimeOptions = Pick<FunctionDefinition, "code" | "handler">;

/** A message to the thread. */
export interface Invocation {
  /** JSON, as Lambda receives it */
  event: string;
  requestId: string;
  /** milliseconds since 1970 at which the instance is terminated */
  deadline: number;
}

/** A message from the thread: a line of the log, or how an invocation ended. */
export type RuntimeMessage = { log: string } | InvocationResult;
export type InvocationResult = { result: string | undefined } | { failure: Failure };

delete process.env.NODE_COMPILE_CACHE; // of this thread's start; Lambda does not have it
const { code, handler: handlerName } = workerData as RuntimeOptions;
const [file = "", exportName = ""] = handlerName.split(".");
const post = (message: RuntimeMessage) => parentPort?.postMessage(message);

let requestId = "";
for (const level of ["info", "warn", "error"] as const) {
  console[level] = (logged: unknown) => {
    const message = logged instanceof Error ? failureOf(logged) : logged;
    const line = { timestamp: new Date().toISOString(), level: level.toUpperCase(), requestId, message };
    post({ log: JSON.stringify(line) });
  };
}

const { [exportName]: handler } = await import(pathToFileURL(resolve(code, `${file}.mjs`)).href);

parentPort?.on("message", async (invocation: Invocation) => {
  requestId = invocation.requestId;
  const context = {
    awsRequestId: requestId,
    getRemainingTimeInMillis: () => invocation.deadline - Date.now(),
  };
  try {
    post({ result: JSON.stringify(await handler(JSON.parse(invocation.event), context)) });
  } catch (error) {
    post({ failure: failureOf(error) });
  }
});
