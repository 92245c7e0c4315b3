import { WriteStream } from "node:tty";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import type { HandledRequest } from "../../emulator/gateway/gateway.ts";
import { generateApiKey } from "../../lib/api-key.ts";
import { errorBody, errors } from "../../lib/errors.ts";
import { serviceLog } from "../../local/service-log.ts";

const request: HandledRequest = {
  url: "/v1/pets?status=sold&limit=a%20secret=1",
  body: JSON.stringify(errorBody("invalid_request", "The parameter limit must not be repeated.")),
  variables: {
    stage: "v1",
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
function linesOf(isTTY: boolean, use: (log: ReturnType<typeof serviceLog>) => void, columns = 0): string[] {
  let written = "";
  const hasColors = () => WriteStream.prototype.hasColors(16, process.env);
  const stream = { isTTY, columns, hasColors, write: (text: string) => (written += text) };
  use(serviceLog(stream as unknown as WriteStream));
  return written.split("\n").slice(0, -1);
}

describe("the log on a terminal", () => {
  it("is a short entry per request, with the reason of a 4xx", () => {
    jest.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12) });
    const failed = { httpMethod: "DELETE", stage: "v1", status: 503, responseLatency: 1234 };
    const denied = { ...failed, status: 401, "error.responseType": "UNAUTHORIZED" };
    const unknown = { ...failed, status: 404, "error.responseType": "MISSING_AUTHENTICATION_TOKEN" };
    const show = (url: string, body: unknown, variables: HandledRequest["variables"]) =>
      linesOf(true, (log) => log.request({ url, body: JSON.stringify(body), variables }, "{}"));
    const lines = [
      ...show("/v1/pets", [], {
        ...request.variables,
        status: 200,
        "error.responseType": "",
        "authorizer.error": "",
      }),
      ...linesOf(true, (log) => log.request(request, "{}")),
      ...show("/v1", errorBody("unavailable"), failed),
      ...show("/v1", errorBody("unauthorized"), denied),
      ...show("/pets", errorBody("not_found"), unknown),
      ...show("/v1/x", null, unknown),
    ];
    expect(lines.map(stripVTControlCharacters)).toEqual([
      // in the time zone of jest.config.js
      "08:30:00  200      7 ms  GET      /v1/pets  key_1",
      "08:30:00  400      7 ms  GET      /v1/pets?status&limit  invalid_request,",
      "               DEFAULT_4XX, slow, The parameter limit must not be repeated.",
      "               key_1",
      "08:30:00  503   1234 ms  DELETE   /v1  unavailable",
      "08:30:00  401   1234 ms  DELETE   /v1  unauthorized, The API key is missing or",
      "               invalid. Send it as 'Authorization: Bearer <API_KEY>'.",
      "08:30:00  404   1234 ms  DELETE   /pets  not_found, paths begin with /v1",
      "08:30:00  404   1234 ms  DELETE   /v1/x  MISSING_AUTHENTICATION_TOKEN",
    ]);
  });

  it.each([0, 60, 80, 200])("breaks no word on a terminal of %d columns, and fits it", (columns) => {
    const log = (message: string) => JSON.stringify({ level: "ERROR", message });
    for (const { message } of Object.values(errors)) {
      const body = JSON.stringify({ code: "x", message });
      const lines = linesOf(
        true,
        (service) => {
          service.request({ ...request, body }, "{}");
          service.function(log(message));
        },
        columns,
      ).map(stripVTControlCharacters);
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns || 80);
      expect(lines.join(" ").replaceAll(/ +/g, " ").split(message)).toHaveLength(3);
    }
  });

  it("colors the status by its class, where the terminal has colors", () => {
    const statuses = [201, 308, 404, 500];
    const shown = (environment: NodeJS.ProcessEnv) => {
      jest.replaceProperty(process, "env", environment);
      const lines = linesOf(true, (log) => {
        for (const status of statuses)
          log.request({ ...request, body: "", variables: { ...request.variables, status } }, "{}");
      });
      return lines.flatMap((line) => /^\S+ {2}(\S+)/.exec(line)?.[1] ?? []);
    };
    const colored = [32, 36, 33, 31].map((color, n) => `\u001b[${color}m${statuses[n]}\u001b[39m`);
    const TERM = "xterm";
    for (const terminal of [{ TERM }, { TERM: "dumb", FORCE_COLOR: "1" }])
      expect(shown(terminal)).toEqual(colored);
    for (const terminal of [{ TERM: "dumb" }, { TERM, NO_COLOR: "1" }])
      expect(shown(terminal)).toEqual(statuses.map(String));
  });

  it.each([
    ["what would garble a terminal", "/\u001b[31mé?limit=1", "/?[31m??limit"],
    ["a key", `/${key}/1?a&${key.replace("_", "%5F")}=1`, "/ask_***/1?a&ask_***"],
    ["a percent-encoded key", `/x%61%53k%5f${key.slice(4)}/1`, "/xask_***/1"],
    ["the end of a long URL", `/${"a".repeat(200)}`, `/${"a".repeat(59)}`],
  ])("replaces %s", (_what, url, shown) => {
    const [line] = linesOf(true, (log) => log.request({ ...request, url }, "{}"), 200);
    expect(line).toContain(`  ${shown}  `);
  });

  it("shows a function's errors with their causes and places in the sources", () => {
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

it("the log in a file has the access log's format, and every line of a function", () => {
  const lines = linesOf(false, (log) => {
    log.request(
      request,
      '{"status":"$context.status","ms":"$context.authorizer.latency","error":"$context.x"}',
    );
    log.function(info);
  });
  expect(lines).toEqual(['{"status":"400","ms":"0","error":"-"}', info]);
});
