import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { env } from "../../../lib/env.ts";

const before = { ...process.env };
const variables = {
  stage: "STAGE",
  petsTable: "PETS_TABLE",
  claimsTable: "CLAIMS_TABLE",
  keysTable: "KEYS_TABLE",
  statusShards: "STATUS_SHARDS",
} as const;

beforeEach(() => {
  for (const name of Object.values(variables)) process.env[name] = "7";
});
afterEach(() => {
  for (const name of Object.values(variables)) delete process.env[name];
  Object.assign(process.env, before);
});

it.each(Object.entries(variables) as [keyof typeof variables, string][])(
  "%s is %s, without which a function does not start",
  (value, name) => {
    process.env[name] = "12";
    expect(String(env[value])).toBe("12");
    for (const missing of [undefined, ""]) {
      if (missing === undefined) delete process.env[name];
      else process.env[name] = missing;
      expect(() => env[value]).toThrow(`The environment variable ${name} is not set.`);
    }
  },
);

it("the number of shards is a number", () => {
  expect(env.statusShards).toBe(7);
});

it("the version of the function is set by Lambda, and missing elsewhere", () => {
  expect(env.functionVersion).toBeUndefined();
  process.env.AWS_LAMBDA_FUNCTION_VERSION = "7";
  expect(env.functionVersion).toBe("7");
  delete process.env.AWS_LAMBDA_FUNCTION_VERSION;
});
