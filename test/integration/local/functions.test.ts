import { readFileSync } from "node:fs";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, describe, expect, it, jest } from "@jest/globals";
import { servedStackName } from "../../../infra/stages.ts";
import { errorBody } from "../../../lib/errors.ts";
import { createGateway } from "../../../local/gateway/gateway.ts";
import { FunctionInstance } from "../../../local/lambda/instance.ts";
import { FunctionPool } from "../../../local/lambda/pool.ts";
import { startStack } from "../../../local/running-stack.ts";
import { HttpServer } from "../../../local/server.ts";
import { eventually } from "../../support/eventually.ts";
import { replaceFunctions } from "../../support/gateway.ts";
import { listen } from "../../support/listen.ts";

jest.spyOn(console, "error").mockImplementation(() => undefined);
// A function that hangs must not delay the run by the usual limit.
jest.setTimeout(30_000);

const operation = `
  let running = 0;
  exports.handler = async (event) => {
    const fault = event.queryStringParameters?.fault;
    if (fault === "exit") process.exit(1);
    if (fault === "endless loop") for (;;);
    if (fault === "no result in time") await new Promise(() => {});
    if (fault === "unhandled rejection") { Promise.reject(new Error("secret")); await new Promise(() => {}); }
    if (fault === "out of memory") for (const all = [];;) all.push({ all: all.length });
    if (fault === "above its memory size") { globalThis.kept = new Array(2e7).fill(1); await new Promise(() => {}); }
    if (fault === "log") { console.error({ logged: true }); console.warn("slow"); console.info("begun"); process.stdout.write("raw text\\n"); process.stderr.write("raw error\\n"); }
    if (fault === "exception") throw new Error("secret");
    if (fault === "no result") return undefined;
    if (fault === "invalid result") return { statusCode: "x" };
    running++;
    const from = Date.now();
    await new Promise((resolve) => setTimeout(resolve, fault === "slow" ? 2500 : 15));
    const { threadId } = require("node:worker_threads");
    const concurrent = running--;
    return { statusCode: 200, body: JSON.stringify({ concurrent, env: process.env, threadId, from, to: Date.now() }) };
  };`;
const authorizer = `
  exports.handler = async () => ({
    principalId: "p",
    policyDocument: { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource: "*" }] },
  });`;

const log = jest.fn<(line: string) => void>();
const { stack, functions, operationName, stop } = await replaceFunctions({ operation, authorizer }, log);
const pool = functions.get(operationName) as FunctionPool;
const server = await listen(new HttpServer(createGateway(stack, functions, { log: () => undefined })));
afterAll(async () => {
  await server.close();
  await stop();
});

/** An invocation; its times are milliseconds since 1970. */
type Run = Record<"threadId" | "concurrent" | "from" | "to", number>;

const invoke = (fault: string, of = pool) =>
  of.invoke(JSON.stringify({ queryStringParameters: { fault } }), "id");
const run = async (fault = "none", of = pool) => {
  const { body } = (await invoke(fault, of)) as { body: string };
  return JSON.parse(body) as Run;
};
const headers = { Authorization: `Bearer ask_local_${"0".repeat(33)}` };
const get = (fault = "none") =>
  fetch(`${server.origin}/v1/pets?fault=${encodeURIComponent(fault)}`, { headers });

describe("a function", () => {
  const timedOut = "The function exceeded its timeout of 4000 ms.";
  const outOfMemory = "The function ran out of memory.";
  it.each<Record<string, string | undefined>>([
    { exit: "The function exited with status 1.", "unhandled rejection": "secret" },
    { "endless loop": timedOut, "no result in time": timedOut },
    { "out of memory": outOfMemory, exception: "secret" },
    { "above its memory size": outOfMemory, "no result": undefined, "invalid result": undefined },
  ])("that fails makes a 503 Error, says why, and every other request is served: %j", async (faults) => {
    const invoked = jest.spyOn(pool, "invoke");
    const replies = await Promise.all(Object.keys(faults).map(get));
    const results = await Promise.allSettled(invoked.mock.results.map(({ value }) => value));
    invoked.mockRestore();
    const reasons = results.map((result) =>
      result.status === "rejected" ? result.reason.message : undefined,
    );
    expect(reasons.toSorted()).toEqual(Object.values(faults).toSorted());
    for (const reply of replies) {
      expect([reply.status, await reply.json()]).toEqual([503, errorBody("unavailable")]);
      expect(reply.headers.get("retry-after")).toBe("1");
    }
    const after = await Promise.all(Array.from({ length: 8 }, () => get()));
    expect(after.every(({ status }) => status === 200)).toBe(true);
  });

  it("has its lines logged, and why it failed", async () => {
    await invoke("log");
    await expect(invoke("exception")).rejects.toThrow();
    await eventually(
      () => log.mock.calls.map(([line]) => line),
      (lines) => {
        expect(lines).toEqual(expect.arrayContaining(["raw text", "raw error"]));
        for (const text of [/"level":"WARN".*"message":"slow"/, /"level":"INFO".*"message":"begun"/])
          expect(lines).toContainEqual(expect.stringMatching(text));
        const entries = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
        for (const message of [{ logged: true }, { errorMessage: "secret" }])
          expect(entries).toContainEqual({
            timestamp: expect.any(String),
            level: "ERROR",
            requestId: "id",
            message,
          });
      },
    );
  });

  it("has the timeout and the memory size of the template", () => {
    const { Resources } = JSON.parse(
      readFileSync(join(process.env.TEST_ASSEMBLY ?? "", `${servedStackName}.template.json`), "utf8"),
    );
    expect(stack.functions.length).toBeGreaterThan(0);
    for (const { name, timeoutMs, memoryMb } of stack.functions)
      expect(Resources[name].Properties).toMatchObject({ Timeout: timeoutMs / 1000, MemorySize: memoryMb });
  });

  it("has only its own environment", async () => {
    const { env } = (await (await get()).json()) as { env: Record<string, string> };
    // Node.js adds this variable while coverage is measured.
    delete env.NODE_V8_COVERAGE;
    expect(env).toEqual({ AWS_REGION: "local", OWN: "operation" });
  });

  it("runs one event at a time in each of its instances", async () => {
    const results = await Promise.all(Array.from({ length: 40 }, () => run()));
    expect(new Set(results.map(({ concurrent }) => concurrent))).toEqual(new Set([1]));
    // Two, and up to four on a busy machine.
    expect([2, 3, 4]).toContain(new Set(results.map(({ threadId }) => threadId)).size);
  });

  it("gets its events in order, and another instance for an event that has taken a second", async () => {
    const { functions, operationName, stop } = await replaceFunctions({ operation, authorizer });
    const runs = jest.spyOn(FunctionInstance.prototype, "run").mockReturnValue(new Promise(() => undefined));
    jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] });
    for (const event of "12345") void functions.get(operationName)?.invoke(event, "id");
    const startedAfter = async (ms: number) => {
      jest.advanceTimersByTime(ms);
      await turn();
      return runs.mock.calls.map(([event]) => event).join("");
    };
    expect([await startedAfter(0), await startedAfter(999), await startedAfter(1)]).toEqual([
      "12",
      "12",
      "1234",
    ]);
    jest.useRealTimers();
    runs.mockRestore();
    await stop();
  });

  it("starts before its first event, and is not stopped when its deployment is replaced", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-functions-"));
    await writeFile(join(folder.path, "index.js"), 'console.info("started");');
    const functions = stack.functions.map((fn) => ({ ...fn, code: folder.path, handler: "index.handler" }));
    const started = jest.fn();
    const log = { function: started, request: () => undefined };
    const { drain } = startStack({ ...stack, functions }, { aws: {}, throttled: false, log });
    await eventually(
      () => started.mock.calls.length,
      (count) => expect(count).toBe(functions.length),
    );
    const stopped = jest.spyOn(FunctionPool.prototype, "stop");
    drain();
    expect(stopped).not.toHaveBeenCalled();
  });

  it("whose code is missing is not deployed", () => {
    const functions = stack.functions.map((fn) => ({ ...fn, code: "/proc/none/code" }));
    const options = { aws: {}, throttled: false, log: { function: log, request: () => undefined } };
    expect(() => startStack({ ...stack, functions }, options)).toThrow("/proc/none/code is missing");
  });

  it("has no timer after its event", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] });
    await run();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it("has up to four instances while some are slow, and then two again, also under load", async () => {
    const runs: Run[] = [];
    let enough = false;
    const load = Array.from({ length: 8 }, async () => {
      while (!enough) runs.push(await run());
    });
    try {
      const slow = await Promise.all(Array.from({ length: 4 }, () => run("slow")));
      const mostAtOnce = (all: Run[]) =>
        Math.max(...all.map(({ from }) => all.filter((run) => run.from <= from && from < run.to).length));
      expect([mostAtOnce(slow), mostAtOnce([...slow, ...runs])]).toEqual([4, 4]);
      runs.length = 0;
      await eventually(
        () => runs.slice(-200).map(({ threadId }) => threadId),
        (recent) => {
          expect(recent).toHaveLength(200);
          expect(new Set(recent).size).toBe(2);
        },
      );
    } finally {
      enough = true;
      await Promise.allSettled(load);
    }
  });

  it.each([
    ["idle", 0],
    ["busy", 5],
  ])("ends %s instances when it is retired, after the waiting events", async (_state, events) => {
    const { functions, operationName, stop } = await replaceFunctions({ operation, authorizer });
    const retired = functions.get(operationName) as FunctionPool;
    const threadOf = async () => (await run("none", retired)).threadId;
    const first = await threadOf();
    const others = Array.from({ length: events }, threadOf);
    retired.drain();
    const used = new Set([first, ...(await Promise.all(others))]);
    expect(used.size).toBeLessThanOrEqual(2);
    expect(used).not.toContain(await threadOf());
    await stop();
  });
});
