import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import { CACHE_SIZE, createAuthorizer } from "../../../emulator/gateway/authorizer.ts";
import type { RequestContext } from "../../../emulator/gateway/context.ts";
import type { Invoke } from "../../../emulator/gateway/integration.ts";
import type { LocalRequest } from "../../../emulator/gateway/request.ts";
import type { GatewayError } from "../../../emulator/gateway/responses.ts";

const methodArn = "arn:aws:execute-api:local:000000000000:local/v1/PUT/a";
const policy = (...statements: [Effect: string, Resource: unknown][]) => ({
  principalId: "p",
  policyDocument: { Statement: statements.map(([Effect, Resource]) => ({ Effect, Resource })) },
  context: { keyId: "key_1", live: true },
});
const allowed = policy(["Allow", "*"]);

const invoke = jest.fn<Invoke>();
const settings = { functionName: "authorize", pattern: /^\w+$/, cacheSeconds: 60 };

let authorizer: ReturnType<typeof createAuthorizer>;
beforeEach(() => {
  invoke.mockReset().mockResolvedValue(allowed);
  authorizer = createAuthorizer(settings, invoke);
});
afterEach(() => void jest.restoreAllMocks());

/** Returns the authorizer's context, or why it refuses the caller, and the variables that it has set. */
const authorize = async (tokens = ["a"], path = "/a") => {
  // As Node reads headers: `headers` has the first of repeated values.
  const [authorization] = tokens;
  const message = { headers: { authorization }, headersDistinct: { authorization: tokens } };
  const request = { message, method: "PUT", path };
  const context = { stage: "v1" } as RequestContext;
  const caller = authorizer(request as unknown as LocalRequest, context);
  const step = await caller.then(
    (value) => ({ value }),
    ({ message }: GatewayError) => ({ refusal: message }),
  );
  return { ...step, variables: context };
};
/** Authorizes a request with the token; returns how often the function has been invoked so far. */
const invocations = async (token: string) => {
  await authorize([token]);
  return invoke.mock.calls.length;
};

const accepted = {
  value: { keyId: "key_1", live: true, principalId: "p" },
  variables: { "authorizer.keyId": "key_1", "authorizer.live": true, "authorizer.principalId": "p" },
};
const denied = { refusal: "ACCESS_DENIED" };
const failed = { refusal: "AUTHORIZER_CONFIGURATION_ERROR" };
it.each<[what: string, result: unknown, step: object]>([
  ["allows", allowed, accepted],
  ["allows a pattern", policy(["Allow", ["arn:other", "arn:aws:execute-api:*/v1/*"]]), accepted],
  ["denies", policy(["Deny", "*"]), denied],
  ["both allows and denies", policy(["Allow", "*"], ["Deny", methodArn]), denied],
  ["allows another resource", policy(["Allow", methodArn.replace("v1", "v.")]), denied],
])("an authorizer that %s", async (_what, result, step) => {
  invoke.mockResolvedValue(result);
  expect(await authorize()).toMatchObject(step);
});

it("an error is a failure of the authorizer", async () => {
  invoke.mockRejectedValueOnce(new Error("failed"));
  expect(await authorize()).toMatchObject({ ...failed, variables: { "authorizer.error": "failed" } });
});

it("invokes no function for what cannot be a token, as one that is sent twice", async () => {
  for (const tokens of [[], ["a b"], ["a", "a"], ["a", ""]])
    expect(await authorize(tokens)).toMatchObject({ refusal: "UNAUTHORIZED" });
  expect(invoke).not.toHaveBeenCalled();
});

it("caches a policy for its time and every path, also when the clock is set back", async () => {
  const now = jest.spyOn(performance, "now").mockReturnValue(1000);
  invoke.mockResolvedValue(policy(["Allow", methodArn]));
  expect(await authorize()).toMatchObject(accepted);
  const event = { type: "TOKEN", authorizationToken: "a", methodArn };
  expect(JSON.parse(invoke.mock.calls[0]?.[1] ?? "")).toEqual(event);
  expect(await authorize(["a"], "/b")).toMatchObject(denied);
  jest.spyOn(Date, "now").mockReturnValue(0);
  now.mockReturnValue(60_999);
  expect(await invocations("a")).toBe(1);
  now.mockReturnValue(61_000);
  expect(await invocations("a")).toBe(2);
});

it("caches a policy that denies", async () => {
  invoke.mockResolvedValue(policy(["Deny", "*"]));
  for (const _request of [1, 2]) expect(await authorize()).toMatchObject(denied);
  expect(invoke).toHaveBeenCalledTimes(1);
});

it("caches so many policies at most, and no failure", async () => {
  invoke.mockRejectedValueOnce(new Error("failed"));
  for (let n = 0; n <= CACHE_SIZE; n++) expect(await invocations(`${Math.max(n, 1)}`)).toBe(n + 1);
  expect(await invocations("1")).toBe(CACHE_SIZE + 1);
  expect(await invocations(`${CACHE_SIZE + 1}`)).toBe(CACHE_SIZE + 2);
  expect(await invocations("1")).toBe(CACHE_SIZE + 3);
});
