import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import type { HandledRequest } from "../../emulator/gateway/gateway.ts";
import { generateApiKey } from "../../lib/api-key.ts";
import { serviceLog } from "../../local/service-log.ts";

const request: HandledRequest = {
  url: "/v1/pets?status=sold&limit=a%20secret=1",
  body: '{"code":"invalid_request"}',
  variables: {
    httpMethod: "GET",
    status: 400,
    responseLatency: 7,
    "authorizer.latency": 0,
    "authorizer.keyId": "key_1",
    "error.responseType": "DEFAULT_4XX",
    "authorizer.error": "slow",
  },
};
const key = generateApiKey("local");
const info = '{"level":"INFO","message":"started"}';

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** Returns the lines that are written to a terminal, or to a file. */
function linesOf(isTTY: boolean, use: (log: ReturnType<typeof serviceLog>) => void): string[] {
  let written = "";
  use(serviceLog({ isTTY, write: (text) => (written += text) }));
  return written.split("\n").slice(0, -1);
}

describe("the log on a terminal", () => {
  it("is one aligned line per request, with the local time, the reason of an error and without query values", () => {
    jest.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12) });
    const failed = { httpMethod: "DELETE", status: 503, responseLatency: 1234 };
    const denied = { ...failed, status: 401, "error.responseType": "UNAUTHORIZED" };
    const lines = linesOf(true, (log) => {
      log.request(request, "{}");
      log.request({ url: "/v1", body: "", variables: failed }, "{}");
      log.request({ url: "/v1", body: '{"code":"unauthorized"}', variables: denied }, "{}");
    });
    expect(lines.map(stripVTControlCharacters)).toEqual([
      // in the time zone of jest.config.js
      "08:30:00  400      7 ms  key_1                 GET      /v1/pets?status&limit  invalid_request, DEFAULT_4XX, slow",
      "08:30:00  503   1234 ms  -                     DELETE   /v1",
      "08:30:00  401   1234 ms  -                     DELETE   /v1  unauthorized",
    ]);
  });

  it("colors the status by its class, unless NO_COLOR is set", () => {
    const statuses = [201, 308, 404, 500];
    const colored = () => {
      const lines = linesOf(true, (log) => {
        for (const status of statuses)
          log.request({ ...request, variables: { ...request.variables, status } }, "{}");
      });
      return lines.map((line) => line.split("  ")[1]);
    };
    const { NO_COLOR, FORCE_COLOR, ...environment } = process.env;
    jest.replaceProperty(process, "env", environment);
    expect(colored()).toEqual([32, 36, 33, 31].map((color, n) => `\u001b[${color}m${statuses[n]}\u001b[39m`));
    process.env.NO_COLOR = "1";
    expect(colored()).toEqual(statuses.map(String));
  });

  it.each([
    ["what would garble a terminal", "/\u001b[31mé?limit=1", "/?[31m??limit"],
    ["a key", `/${key}/1?a&${key.replace("_", "%5F")}=1`, "/ask_.../1?a&ask_..."],
    ["a percent-encoded key", `/x%61%53k%5f${key.slice(4)}/1`, "/xask_.../1"],
    ["the end of a long URL", `/${"a".repeat(200)}`, `/${"a".repeat(99)}`],
  ])("replaces %s", (_what, url, shown) => {
    const [line] = linesOf(true, (log) => log.request({ ...request, url }, "{}"));
    expect(line).toContain(`  ${shown}  `);
  });

  it("shows a function's errors with their causes and their places in the sources, and hides its information", () => {
    const root = fileURLToPath(new URL("../../", import.meta.url));
    const parser = {
      name: "SyntaxError",
      stack: ["    at JSON.parse (<anonymous>)"],
      cause: { name: "string" },
    };
    const frames = [
      `    at node_modules (${root}node_modules/x.js:1:2)`,
      `    at async x (${root}lib/x.ts:3:4)`,
    ];
    const error = { name: "TypeError", message: "two\nlines", stack: frames, cause: parser };
    const messages = [{ error }, { error: {} }, { stackTrace: ["Error: x", "    at y"] }, "slow", null];
    const lines = linesOf(true, (log) => {
      for (const message of messages) log.function(JSON.stringify({ level: "ERROR", message }));
      for (const line of [info, "plain text"]) log.function(line);
    });
    expect(lines).toEqual([
      "          ERROR  TypeError: two",
      "                 lines",
      "                   at lib/x.ts:3:4",
      "                 Cause: SyntaxError",
      "                 Cause: string: not an Error",
      '          ERROR  {"error":{}}',
      "          ERROR  Error: x",
      "                     at y",
      "          ERROR  slow",
      "          ERROR  null",
      "plain text",
    ]);
  });
});

it("the log in a file is the access log's own format, and every line of a function", () => {
  const lines = linesOf(false, (log) => {
    log.request(
      request,
      '{"status":"$context.status","ms":"$context.authorizer.latency","error":"$context.x"}',
    );
    log.function(info);
  });
  expect(lines).toEqual(['{"status":"400","ms":"0","error":"-"}', info]);
});
