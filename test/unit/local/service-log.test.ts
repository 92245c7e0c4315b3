import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import type { HandledRequest } from "../../../emulator/gateway/gateway.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { standardErrorLog } from "../../../local/service-log.ts";

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

const { isTTY } = process.stderr;
const written: string[] = [];

beforeEach(() => {
  written.length = 0;
  jest.spyOn(process.stderr, "write").mockImplementation((text) => {
    if (!String(text).startsWith("(")) written.push(String(text)); // warnings of Node start with a parenthesis
    return true;
  });
});

afterEach(() => {
  jest.restoreAllMocks();
  process.stderr.isTTY = isTTY;
  process.removeAllListeners("exit");
});

async function linesOf(terminal: boolean, write: (log: ReturnType<typeof standardErrorLog>) => void) {
  process.stderr.isTTY = terminal;
  write(standardErrorLog());
  await nextTurn();
  return written.join("").split("\n").slice(0, -1);
}

describe("the log on a terminal", () => {
  it("is one short line per request, with the reason of an error and without query values", async () => {
    const lines = await linesOf(true, (log) => log.request(request, "{}"));
    expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d/, "TIME"))).toEqual([
      "TIME  GET   /v1/pets?status&limit  400  7 ms  key_1  invalid_request, DEFAULT_4XX, slow",
    ]);
  });

  it.each([
    ["what would garble a terminal", "/\u001b[31mé?limit=1", "/?[31m??limit"],
    ["a key", `/${key}/1?a&${key.replace("_", "%5F")}=1`, "/ask_.../1?a&ask_..."],
    ["the end of a long URL", `/${"a".repeat(200)}`, `/${"a".repeat(99)}`],
  ])("replaces %s", async (_what, url, shown) => {
    const [line] = await linesOf(true, (log) => log.request({ ...request, url }, "{}"));
    expect(line).toContain(`  ${shown}  `);
  });

  it("shows a function's errors and plain text, and hides its information", async () => {
    const logged = [info, '{"level":"ERROR","message":{"status":503}}', '{"level":"WARN","message":"slow"}'];
    const lines = await linesOf(true, (log) => [...logged, "plain text"].forEach(log.function));
    expect(lines).toEqual(['          ERROR  {"status":503}', "          WARN  slow", "plain text"]);
  });
});

describe("the log in a file", () => {
  it("is the access log's own format, and every line of a function", async () => {
    const lines = await linesOf(false, (log) => {
      log.request(
        request,
        '{"status":"$context.status","ms":"$context.authorizer.latency","error":"$context.x"}',
      );
      log.function(info);
    });
    expect(lines).toEqual(['{"status":"400","ms":"0","error":"-"}', info]);
  });

  it("has the last lines when the process ends", () => {
    standardErrorLog().function(info);
    process.listeners("exit").at(-1)?.(0);
    expect(written).toEqual([`${info}\n`]);
  });
});
