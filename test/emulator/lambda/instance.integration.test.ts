import { mkdtemp, rm, writeFile } from "node:fs/promises";
import inspector from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it, jest } from "@jest/globals";
import { FunctionPool } from "../../../emulator/lambda/pool.ts";
import { eventually } from "../../support/eventually.ts";

const source = `
  export const handler = async (fault, { awsRequestId, getRemainingTimeInMillis }) => {
    console.info(fault);
    if (fault === "exit") process.exit(1);
    if (fault === "endless loop") for (;;);
    if (fault === "no result in time") await new Promise(() => {});
    if (fault === "unhandled rejection") { Promise.reject(new Error("secret")); await new Promise(() => {}); }
    if (fault === "log") { console.error({ logged: true }); console.error(new RangeError("secret")); console.warn("slow"); process.stdout.write("raw text\\n"); process.stderr.write("raw error\\n"); }
    if (fault === "exception") throw new TypeError("secret");
    if (fault === "text") throw "secret";
    const { maxOldGenerationSizeMb: heapMb } = process.getBuiltinModule("node:worker_threads").resourceLimits;
    return { env: process.env, heapMb, awsRequestId, remaining: getRemainingTimeInMillis() };
  };`;

const folder = await mkdtemp(join(tmpdir(), "animal-store-functions-"));
await writeFile(join(folder, "index.mjs"), source);
const timeoutMs = 60_000;
const definition = { name: "F", code: folder, handler: "index.handler", timeoutMs, memoryMb: 512 };
const log = jest.fn<(line: string) => void>();
const pool = new FunctionPool({ ...definition, environment: { OWN: "f" } }, log);

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  log.mockClear();
});
afterAll(async () => {
  await pool.stop();
  await rm(folder, { recursive: true });
});

const invoke = (fault = "none") => pool.invoke(JSON.stringify(fault), "id");
const lines = () => log.mock.calls.map(([line]) => line);

const timedOut = "The function exceeded its timeout of 60000 ms.";
it.each([
  ["exit", "The function exited with status 1."],
  ["unhandled rejection", "secret"],
  ["exception", "secret"],
  ["endless loop", timedOut],
  ["no result in time", timedOut],
])("an invocation that ends with %s fails alone, and says why", async (fault, reason) => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] });
  const failure = invoke(fault).catch((error) => error);
  await invoke();
  if (reason === timedOut) {
    await eventually(lines, (all) => expect(all.join()).toContain(`"${fault}"`));
    jest.advanceTimersByTime(timeoutMs);
  }
  expect(await failure).toMatchObject({ message: reason });
  await Promise.all([invoke(), invoke(), invoke()]);
});

it("a function has its lines logged, and why it failed", async () => {
  await invoke("log");
  for (const fault of ["exception", "text", "unhandled rejection", "exit"])
    await expect(invoke(fault)).rejects.toThrow();
  await eventually(lines, (all) => {
    expect(all).toEqual(expect.arrayContaining(["raw text", "raw error"]));
    const entries = all.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    const own = { timestamp: expect.any(String), requestId: "id" };
    expect(entries).toContainEqual({ ...own, level: "INFO", message: "log" });
    expect(entries).toContainEqual({ ...own, level: "WARN", message: "slow" });
    // As Lambda's runtime describes what a function throws (test/long/runtime/).
    const thrown = (errorType: string) => {
      const stackTrace = expect.arrayContaining([
        `${errorType}: secret`,
        expect.stringContaining("index.mjs:"),
      ]);
      return { errorType, errorMessage: "secret", stackTrace };
    };
    const text = { errorType: "Error", errorMessage: "secret", stackTrace: expect.any(Array) };
    const exited = { errorMessage: "The function exited with status 1." };
    const errors = ["RangeError", "TypeError", "Error"].map(thrown);
    for (const message of [{ logged: true }, ...errors, text, exited])
      expect(entries).toContainEqual({ ...own, level: "ERROR", message });
  });
});

it("a function has its own environment, memory and time, and no timer after its event", async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "Date"] });
  const result = (await invoke()) as { env: object; remaining: number };
  expect(jest.getTimerCount()).toBe(0);
  expect(result.env).toEqual({ OWN: "f" });
  expect(result).toMatchObject({
    heapMb: definition.memoryMb,
    awsRequestId: "id",
    remaining: expect.closeTo(timeoutMs, -5),
  });
});

it("a function has no timeout while a debugger can hold it", async () => {
  jest.spyOn(inspector, "url").mockReturnValue("ws://127.0.0.1:9229/");
  expect(await invoke()).toMatchObject({ remaining: expect.closeTo(2 ** 31, -5) });
});
