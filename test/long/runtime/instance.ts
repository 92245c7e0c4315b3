import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { EventEmitter, on, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import type { FunctionDefinition } from "../../../emulator/template/template.ts";
import { listen } from "../../support/listen.ts";

export type Code = Pick<FunctionDefinition, "code" | "handler" | "environment">;

/** What the runtime does next: it asks for an event, reports a result or an error, or ends. */
type Step =
  | { next: ServerResponse }
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  | { report: "response" | "error" | "init/error"; body: any }
  | { ended: number | null };

/**
 * Starts one instance of a function under AWS's runtime, in front of a fake Runtime API (Lambda guide, "Using the Lambda
 * runtime API for custom runtimes"). `await using` ends it.
 *
 * @param runtime path of the program of aws-lambda-ric
 */
export async function startInstance(runtime: string, { code, handler, environment }: Code) {
  const emitter = new EventEmitter();
  const steps = on(emitter, "step");
  const add = (step: Step) => emitter.emit("step", step);
  const step = async (): Promise<Step> => (await steps.next()).value?.[0];

  const { origin, close } = await listen(
    createServer(async (message, response) => {
      const [, report] = /\/(next|response|error|init\/error)$/.exec(message.url ?? "") ?? [];
      if (report === "next") return add({ next: response });
      add({ report: report as "response", body: await json(message) });
      response.writeHead(202, { "Content-Type": "application/json" }).end('{"status":"OK"}');
    }),
  );
  const child = spawn(process.execPath, [runtime], {
    env: {
      ...environment,
      _HANDLER: handler,
      LAMBDA_TASK_ROOT: code,
      AWS_LAMBDA_RUNTIME_API: new URL(origin).host,
      AWS_LAMBDA_LOG_FORMAT: "JSON",
      AWS_LAMBDA_LOG_LEVEL: "INFO",
      AWS_LAMBDA_FUNCTION_NAME: "function",
      AWS_LAMBDA_FUNCTION_VERSION: "41",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "512",
      AWS_LAMBDA_LOG_GROUP_NAME: "group",
      AWS_LAMBDA_LOG_STREAM_NAME: "stream",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (log += chunk));
  const ended = once(child, "close").then(([code]) => add({ ended: code as number | null }));

  /** Waits for the next step, and kills the instance if it takes too long, as Lambda does. */
  const stepWithin = async (milliseconds: number) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), milliseconds);
    return step().finally(() => clearTimeout(timer));
  };

  // Lambda waits for 10 s. This machine can be busier.
  const first = await stepWithin(60_000);
  let next = "next" in first ? first.next : undefined;
  const end = async () => {
    child.kill();
    await ended;
    await close();
  };
  return {
    first,
    /**
     * Runs the function once, and kills it at its timeout as Lambda does.
     *
     * @returns the id of the invocation, and how it ended
     */
    async invoke(event: unknown, timeoutMs = 6000) {
      const requestId = randomUUID();
      next?.writeHead(200, {
        "Content-Type": "application/json",
        "Lambda-Runtime-Aws-Request-Id": requestId,
        "Lambda-Runtime-Deadline-Ms": Date.now() + timeoutMs,
        "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:us-east-1:000000000000:function:function",
      });
      next?.end(JSON.stringify(event));
      const outcome = await stepWithin(timeoutMs);
      if ("report" in outcome) {
        const following = await step();
        next = "next" in following ? following.next : undefined;
      }
      return { requestId, outcome };
    },
    /** Ends it; returns the lines of its log. */
    async lines(): Promise<string[]> {
      await end();
      return log.split("\n").filter(Boolean);
    },
    [Symbol.asyncDispose]: end,
  };
}
