import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, jest } from "@jest/globals";
import { loadFunctions } from "../../../tools/emulator/functions.ts";

const folder = await mkdtemp(join(tmpdir(), "animal-store-functions-"));
afterAll(() => rm(folder, { recursive: true }));

const source = `const atStart = { ...process.env };
  module.exports.handler = async ({ fails }, context) => {
    if (fails) throw new TypeError("secret");
    return { atStart, later: process.env, time: context.getRemainingTimeInMillis(), none: undefined };
  };`;

/** Writes a function, and returns what the template says about it. */
async function define(name: string, environment: Record<string, string> = {}, index = source) {
  const code = await mkdtemp(join(folder, "code-"));
  await writeFile(join(code, "index.cjs"), index);
  return { name, code, handler: "entry.handler", environment, timeoutMs: 6000 };
}

it("a function has its own environment while it is loaded, and the time of the template", async () => {
  const functions = [await define("F", { OWN: "f" }), await define("G", { OTHER: "g" })];
  const invoke = await loadFunctions(functions, { AWS_REGION: "us-east-1" });
  expect(await invoke("F", {})).toEqual({
    atStart: { AWS_REGION: "us-east-1", OWN: "f" },
    later: expect.objectContaining({ OWN: "f", OTHER: "g" }),
    time: expect.closeTo(6000, -3),
  });
});

it("logs what a function throws, and says why one cannot be loaded", async () => {
  const log = jest.spyOn(console, "error").mockImplementation(() => undefined);
  const invoke = await loadFunctions([await define("F")], {});
  await expect(invoke("F", { fails: true })).rejects.toThrow("secret");
  expect(log.mock.calls).toEqual([["F:", expect.objectContaining({ message: "secret" })]]);
  const before = process.env;
  const broken = await define("G", {}, "throw new Error('no table');");
  await expect(loadFunctions([broken], {})).rejects.toThrow(/^G cannot be loaded: Error: no table\n +at /);
  const empty = await define("H", {}, "");
  await expect(loadFunctions([empty], {})).rejects.toThrow(/^H cannot be loaded: .* no handler\./);
  expect(process.env).toBe(before);
});
