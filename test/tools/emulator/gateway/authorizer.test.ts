import { expect, it, jest } from "@jest/globals";
import type { Invoke } from "../../../../tools/emulator/functions.ts";
import { createAuthorizer } from "../../../../tools/emulator/gateway/authorizer.ts";
import type { RequestContext } from "../../../../tools/emulator/gateway/event.ts";
import type { LocalRequest } from "../../../../tools/emulator/gateway/request.ts";

const methodArn = "arn:aws:execute-api:local:000000000000:local/v1/PUT/a";
const policy = (...statements: [Effect: string, Resource: unknown][]) => ({
  principalId: "p",
  policyDocument: { Statement: statements.map(([Effect, Resource]) => ({ Effect, Resource })) },
  context: { keyId: "key_1" },
});
const allowed = policy(["Allow", "*"]);
const caller = { keyId: "key_1", principalId: "p" };

/** Starts an authorizer with a function. @returns the function, and how to authorize a request: with what result */
function start(result: unknown = allowed) {
  const invoke = jest.fn<Invoke>().mockResolvedValue(result);
  const run = createAuthorizer({ functionName: "authorize", pattern: /^\w+$/, cacheSeconds: 60 }, invoke);
  const authorize = (tokens = ["a"], path = "/a") => {
    const message = { headersDistinct: { authorization: tokens } };
    const context = { stage: "v1" } as RequestContext;
    const request = { message, method: "PUT", path } as unknown as LocalRequest;
    return run(request, context).then(
      () => context.authorizer,
      ({ message }: Error) => message,
    );
  };
  return { invoke, authorize };
}

it.each<[what: string, result: unknown, outcome: unknown]>([
  ["allows a pattern", policy(["Allow", ["arn:other", "arn:aws:execute-api:*/v1/*"]]), caller],
  ["denies", policy(["Deny", "*"]), "ACCESS_DENIED"],
  ["both allows and denies", policy(["Allow", "*"], ["Deny", methodArn]), "ACCESS_DENIED"],
  ["allows another resource", policy(["Allow", methodArn.replace("v1", "v.")]), "ACCESS_DENIED"],
])("caches the policy of an authorizer that %s", async (_what, result, outcome) => {
  const { invoke, authorize } = start(result);
  for (const _request of [1, 2]) expect(await authorize()).toEqual(outcome);
  expect(invoke.mock.calls).toEqual([["authorize", { type: "TOKEN", authorizationToken: "a", methodArn }]]);
});

it("caches a policy for its time and every path, and no failure", async () => {
  const { invoke, authorize } = start(policy(["Allow", methodArn]));
  invoke.mockRejectedValueOnce(new Error("failed"));
  expect(await authorize()).toBe("AUTHORIZER_CONFIGURATION_ERROR");
  const now = jest.spyOn(performance, "now").mockReturnValue(1000);
  expect(await authorize()).toEqual(caller);
  expect(await authorize(["a"], "/b")).toBe("ACCESS_DENIED");
  now.mockReturnValue(60_999);
  await authorize();
  expect(invoke).toHaveBeenCalledTimes(2);
  now.mockReturnValue(61_000);
  await authorize();
  expect(invoke).toHaveBeenCalledTimes(3);
});

it("invokes no function for what cannot be a token, as one that is sent twice", async () => {
  const { invoke, authorize } = start();
  for (const tokens of [[], ["a b"], ["a", "a"], ["a", ""]])
    expect(await authorize(tokens)).toBe("UNAUTHORIZED");
  expect(invoke).not.toHaveBeenCalled();
});
