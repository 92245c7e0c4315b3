import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import { TokenAuthorizer } from "../../../../local/gateway/authorizer.ts";
import type { RequestContext } from "../../../../local/gateway/context.ts";
import type { LocalRequest } from "../../../../local/gateway/receive.ts";
import type { FunctionPool } from "../../../../local/lambda/pool.ts";

const invoke = jest.fn(async (_event: string) => ({
  principalId: "p",
  policyDocument: { Statement: [{ Effect: "Allow", Resource: "*" }] },
}));
const settings = { functionName: "authorize", pattern: /./, cacheSeconds: 60 };
const context = { stage: "v1" } as RequestContext;

let authorizer: TokenAuthorizer;
beforeEach(() => {
  invoke.mockClear();
  authorizer = new TokenAuthorizer(settings, { invoke } as unknown as FunctionPool);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Authorizes a request with the token; returns how often the function has been invoked so far. */
async function invocations(token: string): Promise<number> {
  const message = { headersDistinct: { authorization: [token] } };
  await authorizer.authorize({ message, method: "PUT", path: "/a" } as unknown as LocalRequest, context);
  return invoke.mock.calls.length;
}

it("caches a policy for its time, also when the clock of the machine is set back", async () => {
  const now = jest.spyOn(performance, "now").mockReturnValue(1000);
  expect(await invocations("a")).toBe(1);
  const methodArn = "arn:aws:execute-api:local:000000000000:local/v1/PUT/a";
  const event = { type: "TOKEN", authorizationToken: "a", methodArn };
  expect(JSON.parse(invoke.mock.calls[0]?.[0] ?? "")).toEqual(event);
  jest.spyOn(Date, "now").mockReturnValue(0);
  now.mockReturnValue(60_999);
  expect(await invocations("a")).toBe(1);
  now.mockReturnValue(61_000);
  expect(await invocations("a")).toBe(2);
});

it("caches the last 1,000 policies", async () => {
  const now = jest.spyOn(performance, "now").mockReturnValue(0);
  for (let n = 1; n <= 1001; n++) expect(await invocations(`${n}`)).toBe(n);
  expect(await invocations("2")).toBe(1001);
  expect(await invocations("1")).toBe(1002);
  now.mockReturnValue(60_000);
  expect(await invocations("3")).toBe(1003);
  expect(await invocations("2")).toBe(1004);
  expect(await invocations("3")).toBe(1004);
});
