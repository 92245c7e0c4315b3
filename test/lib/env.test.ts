import { afterEach, expect, it, jest } from "@jest/globals";
import { env } from "../../lib/env.ts";

afterEach(() => {
  jest.restoreAllMocks();
});

// Lambda sets the version, and what runs elsewhere has none.
const required = (Object.keys(env) as (keyof typeof env)[]).filter((name) => name !== "functionVersion");

it.each(required)("a function that reads %s does not start without it", (name) => {
  const variables = jest.replaceProperty(process, "env", {});
  const missing = /^The environment variable (\w+) is not set\.$/;
  expect(() => env[name]).toThrow(missing);
  variables.replaceValue(new Proxy({}, { get: () => "" }));
  expect(() => env[name]).toThrow(missing);
});
