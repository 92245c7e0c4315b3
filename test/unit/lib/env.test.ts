import { afterEach, expect, it, jest } from "@jest/globals";
import { env } from "../../../lib/env.ts";

const set = (variables: NodeJS.ProcessEnv) => jest.replaceProperty(process, "env", variables);
afterEach(() => {
  jest.restoreAllMocks();
});

it.each([
  ["stage", "STAGE", "7"],
  ["petsTable", "PETS_TABLE", "7"],
  ["claimsTable", "CLAIMS_TABLE", "7"],
  ["apiKeysTable", "API_KEYS_TABLE", "7"],
  ["statusShards", "STATUS_SHARDS", 7],
] as const)("%s is %s, without which a function does not start", (name, variable, value) => {
  set({ [variable]: "7" });
  expect(env[name]).toBe(value);
  set({ [variable]: "" });
  expect(() => env[name]).toThrow(`The environment variable ${variable} is not set.`);
});

it("the version of the function is set by Lambda, and missing elsewhere", () => {
  set({});
  expect(env.functionVersion).toBeUndefined();
  set({ AWS_LAMBDA_FUNCTION_VERSION: "7" });
  expect(env.functionVersion).toBe("7");
});
