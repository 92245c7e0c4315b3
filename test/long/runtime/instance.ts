import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import type { Json } from "../../support/json.ts";
import { listen } from "../../support/listen.ts";

/** The id of each invocation. */
export const requestId = "8476a536-e9f4-11e8-9739-2dfe598c3fcd";

/**
 * Runs an instance of a function under AWS's runtime, in front of a fake Runtime API (Lambda guide, "Using the Lambda
 * runtime API for custom runtimes"), until it has handled one event. At its timeout, it is ended as Lambda does.
 *
 * @param runtime path of the program of aws-lambda-ric
 * @param onStart is called when the instance asks for the event
 * @returns what it reported by the end of the path, such as `init/error`, and its exit code if it ended by itself
 */
export async function runInstance(
  runtime: string,
  { code, handler, environment }: { code: string; handler: string; environment: Record<string, string> },
  { event = {} as unknown, timeoutMs = 6000, onStart = () => {} } = {},
) {
  const reports: Record<string, Json> = {};
  let timer: NodeJS.Timeout | undefined;
  const server = createServer(async (message, response) => {
    response.setHeader("Content-Type", "application/json");
    const [report = ""] = /(init\/)?\w+$/.exec(message.url ?? "") ?? [];
    if (report !== "next") {
      reports[report] = await json(message);
      return response.writeHead(202).end();
    }
    if (timer) return child.kill(); // It has handled the event.
    onStart();
    timer = setTimeout(() => child.kill(), timeoutMs);
    response.setHeader("Lambda-Runtime-Aws-Request-Id", requestId);
    response.setHeader("Lambda-Runtime-Deadline-Ms", Date.now() + timeoutMs);
    response.end(JSON.stringify(event));
  });
  const { origin, close } = await listen(server);
  const child = spawn(process.execPath, [runtime], {
    env: {
      ...environment,
      _HANDLER: handler,
      LAMBDA_TASK_ROOT: code,
      AWS_LAMBDA_RUNTIME_API: new URL(origin).host,
      AWS_LAMBDA_LOG_FORMAT: "JSON",
      AWS_LAMBDA_FUNCTION_NAME: "function",
      AWS_LAMBDA_FUNCTION_VERSION: "41",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "512",
      AWS_LAMBDA_LOG_GROUP_NAME: "group",
      AWS_LAMBDA_LOG_STREAM_NAME: "stream",
    },
    timeout: 60_000, // Lambda waits 10 s for the start. This machine can be busier.
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (log += chunk));
  const [exitCode] = await once(child, "close");
  await close();
  return { reports, lines: log.split("\n").filter(Boolean), exitCode };
}
