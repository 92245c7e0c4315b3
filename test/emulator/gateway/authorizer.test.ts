import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import type { Invoke } from "../../../emulator/functions.ts";
import { createAuthorizer } from "../../../emulator/gateway/authorizer.ts";
import type { RequestContext } from "../../../emulator/gateway/event.ts";
import type { LocalRequest } from "../../../emulator/gateway/request.ts";

const methodArn = "arn:aws:execute-api:local:000000000000:local/v1/PUT/a";
const policy = (...statements: [Effect: string, Resource: unknown][]) => ({
  principalId: "p",
  policyDocument: { Statement: statements.map(([Effect, Resource]) => ({ Effect, Resource })) },
  context: { keyId: "key_1" },
});
const allowed = policy(["Allow", "*"]);

const invoke = jest.fn<Invoke>();
let authorizer: ReturnType<typeof createAuthorizer>;
beforeEach(() => {
  invoke.mockReset().mockResolvedValue(allowed);
  authorizer = createAuthorizer({ functionName: "authorize", pattern: /^\w+$/, cacheSeconds: 60 }, invoke);
});
afterEach(() => void jest.restoreAllMocks());

/** Returns the authorizer's context, or why it refuses the caller. */
async function authorize(tokens = ["a"], path = "/a") {
  const message = { headersDistinct: { authorization: tokens } };
  const context = { stage: "v1" } as RequestContext;
  const request = { message, method: "PUT", path } as unknown as LocalRequest;
  return authorizer(request, context).then(
    () => context.authorizer,
    ({ message }: Error) => message,
  );
}
const caller = { keyId: "key_1", principalId: "p" };

it.each<[what: string, result: unknown, outcome: unknown]>([
  ["allows", allowed, caller],
  ["allows a pattern", policy(["Allow", ["arn:other", "arn:aws:execute-api:*/v1/*"]]), caller],
  ["denies", policy(["Deny", "*"]), "ACCESS_DENIED"],
  ["both allows and denies", policy(["Allow", "*"], ["Deny", methodArn]), "ACCESS_DENIED"],
  ["allows another resource", policy(["Allow", methodArn.replace("v1", "v.")]), "ACCESS_DENIED"],
])("caches the policy of an authorizer that %s", async (_what, result, outcome) => {
  invoke.mockResolvedValue(result);
  for (const _request of [1, 2]) expect(await authorize()).toEqual(outcome);
  expect(invoke.mock.calls).toEqual([["authorize", { type: "TOKEN", authorizationToken: "a", methodArn }]]);
});

it("caches no failure", async () => {
  invoke.mockRejectedValueOnce(new Error("failed"));
  expect(await authorize()).toBe("AUTHORIZER_CONFIGURATION_ERROR");
  expect(await authorize()).toEqual(caller);
});

it("invokes no function for what cannot be a token, as one that is sent twice", async () => {
  for (const tokens of [[], ["a b"], ["a", "a"], ["a", ""]])
    expect(await authorize(tokens)).toBe("UNAUTHORIZED");
  expect(invoke).not.toHaveBeenCalled();
});

it("uses a policy for its time and every path, also when the clock is set back", async () => {
  const now = jest.spyOn(performance, "now").mockReturnValue(1000);
  invoke.mockResolvedValue(policy(["Allow", methodArn]));
  await authorize();
  expect(await authorize(["a"], "/b")).toBe("ACCESS_DENIED");
  jest.spyOn(Date, "now").mockReturnValue(0);
  now.mockReturnValue(60_999);
  await authorize();
  expect(invoke).toHaveBeenCalledTimes(1);
  now.mockReturnValue(61_000);
  await authorize();
  expect(invoke).toHaveBeenCalledTimes(2);
});
