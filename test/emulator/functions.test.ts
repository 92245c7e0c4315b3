import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it, jest } from "@jest/globals";
import { loadFunctions } from "../../emulator/functions.ts";

const folder = await mkdtemp(join(tmpdir(), "animal-store-functions-"));
const source = `const atStart = { ...process.env };
  module.exports.handler = async (fault, context) => {
    if (fault.name === "exception") throw new TypeError("secret");
    if (fault.name === "text") throw "secret";
    if (fault.name === "no result") await new Promise(() => {});
    return { atStart, later: process.env, time: context.getRemainingTimeInMillis(), none: undefined };
  };`;

/** Writes a function, and returns what the template says about it. */
async function define(name: string, environment: Record<string, string> = {}, index = source) {
  const code = await mkdtemp(join(folder, "code-"));
  await writeFile(join(code, "index.cjs"), index);
  return { name, code, handler: "entry.handler", environment, timeoutMs: 6000 };
}

const own = process.env;
process.env = { ...own, AWS_PROFILE: "mine", USER_SETTING: "1" };
const log = jest.spyOn(console, "error").mockImplementation(() => undefined);
afterEach(() => {
  jest.useRealTimers();
  log.mockClear();
});
afterAll(async () => {
  process.env = own;
  jest.restoreAllMocks();
  await rm(folder, { recursive: true });
});

it("a function has its own environment while it is loaded, and never the user's AWS settings", async () => {
  const invoke = await loadFunctions([await define("F", { OWN: "f" }), await define("G", { OTHER: "g" })], {
    AWS_REGION: "us-east-1",
  });
  const result = (await invoke("F", {})) as { atStart: object; later: object };
  expect(result.atStart).toEqual({ AWS_REGION: "us-east-1", OWN: "f" });
  expect(result.later).toMatchObject({ AWS_REGION: "us-east-1", OWN: "f", OTHER: "g", USER_SETTING: "1" });
  expect(result.later).not.toHaveProperty("AWS_PROFILE");
  expect(result).toMatchObject({ time: expect.closeTo(6000, -3) });
  expect(result).not.toHaveProperty("none");
});

it.each([
  ["exception", new TypeError("secret")],
  ["text", "secret"],
  ["no result", new Error("The function exceeded its timeout of 6000 ms.")],
])("an invocation that ends with an %s fails alone, and its reason is logged", async (name, reason) => {
  const invoke = await loadFunctions([await define("F")], {});
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] });
  const failed = invoke("F", { name }).catch((error) => error);
  await invoke("F", {});
  jest.advanceTimersByTime(6000);
  expect(await failed).toEqual(reason);
  expect(log.mock.calls).toEqual([["F:", reason]]);
  expect(jest.getTimerCount()).toBe(0);
});

it("says why a function cannot be loaded, and restores the environment", async () => {
  const before = process.env;
  const broken = await define("F", {}, "throw new Error('no table');");
  await expect(loadFunctions([broken], {})).rejects.toThrow(/^F cannot be loaded: Error: no table\n +at /);
  expect(process.env).toBe(before);
});
