import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HeapInfo } from "node:v8";
import { Worker } from "node:worker_threads";
import { afterAll, afterEach, expect, it, jest } from "@jest/globals";
import { FunctionInstance } from "../../../emulator/lambda/instance.ts";
import { FunctionPool } from "../../../emulator/lambda/pool.ts";
import { eventually } from "../../support/eventually.ts";

const source = `
  exports.handler = async (fault, { awsRequestId, getRemainingTimeInMillis }) => {
    console.info(fault);
    if (fault === "exit") process.exit(1);
    if (fault === "endless loop") for (;;);
    if (fault === "no result in time") await new Promise(() => {});
    if (fault === "unhandled rejection") { Promise.reject(new Error("secret")); await new Promise(() => {}); }
    if (fault === "out of memory") for (const all = [];;) all.push({ all: all.length });
    if (fault === "above its memory size") { globalThis.kept = new Array(2e7).fill(1); await new Promise(() => {}); }
    if (fault === "log") { console.error({ logged: true }); console.warn("slow"); process.stdout.write("raw text\\n"); process.stderr.write("raw error\\n"); }
    if (fault === "exception") throw new Error("secret");
    return { env: process.env, awsRequestId, remaining: getRemainingTimeInMillis() };
  };`;

const folder = await mkdtemp(join(tmpdir(), "animal-store-functions-"));
await writeFile(join(folder, "index.js"), source);
const timeoutMs = 60_000;
const definition = { name: "F", code: folder, handler: "index.handler", timeoutMs, memoryMb: 64 };
const log = jest.fn<(line: string) => void>();
const pool = new FunctionPool({ ...definition, environment: { OWN: "f" } }, log);

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  log.mockClear();
});
afterAll(async () => {
  pool.stop();
  await rm(folder, { recursive: true });
});

const invoke = (fault = "none") => pool.invoke(JSON.stringify(fault), "id");
const lines = () => log.mock.calls.map(([line]) => line);

const timedOut = "The function exceeded its timeout of 60000 ms.";
const outOfMemory = "The function ran out of memory.";
it.each([
  ["exit", "The function exited with status 1."],
  ["unhandled rejection", "secret"],
  ["exception", "secret"],
  ["endless loop", timedOut],
  ["no result in time", timedOut],
  ["out of memory", outOfMemory],
  ["above its memory size", outOfMemory],
])("an invocation that ends with %s fails alone, and says why", async (fault, reason) => {
  const failure = invoke(fault).catch((error) => error);
  await invoke();
  if (reason === timedOut) {
    await eventually(lines, (all) => expect(all.join()).toContain(`"${fault}"`));
    const end = Date.now() + timeoutMs;
    jest.spyOn(Date, "now").mockReturnValue(end);
  }
  expect(await failure).toEqual(new Error(reason));
  jest.restoreAllMocks();
  await Promise.all([invoke(), invoke(), invoke()]);
});

it("a function has its lines logged, and why it failed", async () => {
  await invoke("log");
  await expect(invoke("exception")).rejects.toThrow();
  await eventually(lines, (all) => {
    expect(all).toEqual(expect.arrayContaining(["raw text", "raw error"]));
    const entries = all.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    const own = { timestamp: expect.any(String), requestId: "id" };
    expect(entries).toContainEqual({ ...own, level: "INFO", message: "log" });
    expect(entries).toContainEqual({ ...own, level: "WARN", message: "slow" });
    for (const message of [{ logged: true }, { errorMessage: "secret" }])
      expect(entries).toContainEqual({ ...own, level: "ERROR", message });
  });
});

it("a function has only its own environment, the id of the request, and no timer after its event", async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "Date"] });
  const result = (await invoke()) as { env: object; remaining: number };
  expect(jest.getTimerCount()).toBe(0);
  expect(result.env).toEqual({ OWN: "f" });
  expect(result).toMatchObject({ awsRequestId: "id", remaining: expect.closeTo(timeoutMs, -5) });
});

it("a thread that was stopped leaves no timer, which would end the service", async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "Date"] });
  const other = new FunctionPool({ ...definition, environment: {} }, log);
  await other.invoke('"none"', "id");
  other.stop();
  expect(jest.getTimerCount()).toBeGreaterThan(0);
  await eventually(
    () => jest.getTimerCount(),
    (count) => expect(count).toBe(0),
  );
});

it("ends a thread once when it answers many checks together", async () => {
  const terminate = jest.spyOn(Worker.prototype, "terminate");
  const check = jest.spyOn(Worker.prototype, "getHeapStatistics");
  const { promise, resolve } = Promise.withResolvers<HeapInfo>();
  check.mockReturnValue(promise);
  const failure = invoke("endless loop").catch((error) => error);
  await eventually(
    () => check.mock.calls.length,
    (count) => expect(count).toBeGreaterThan(1),
  );
  resolve({ used_heap_size: 2 ** 30 } as HeapInfo);
  expect(await failure).toEqual(new Error(outOfMemory));
  expect(terminate).toHaveBeenCalledTimes(1);
});

it("ends the process when a thread does not end", async () => {
  const terminate = jest.spyOn(Worker.prototype, "terminate").mockReturnValueOnce(new Promise(() => {}));
  jest.useFakeTimers({ doNotFake: ["nextTick"] });
  new FunctionInstance({ ...definition, environment: {} }, log, () => {}).terminate();
  expect(() => jest.runAllTimers()).toThrow("The function F runs code that cannot be stopped.");
  const [thread] = terminate.mock.contexts as Worker[];
  await thread?.terminate();
});
