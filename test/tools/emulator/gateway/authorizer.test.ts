import { expect, it, jest } from "@jest/globals";
import type { Invoke } from "../../../../tools/emulator/functions.ts";
import { createAuthorizer } from "../../../../tools/emulator/gateway/authorizer.ts";
import type { RequestContext } from "../../../../tools/emulator/gateway/event.ts";
import type { LocalRequest } from "../../../../tools/emulator/gateway/request.ts";

const methodArn = "arn:aws:execute-api:local:000000000000:local/v1/PUT/a";
const allowed = {
  principalId: "p",
  policyDocument: { Statement: [{ Effect: "Allow", Resource: methodArn }] },
  context: { keyId: "key_1" },
};

/** Starts an authorizer with a function. @returns the function, and how to authorize a request: with what result */
function start() {
  const invoke = jest.fn<Invoke>().mockResolvedValue(allowed);
  const run = createAuthorizer({ functionName: "authorize", pattern: /^\w+$/, cacheSeconds: 60 }, invoke);
  const authorize = (tokens = ["a"], path = "/a") => {
    const message = { headersDistinct: { authorization: tokens } };
    const context = { stage: "v1" } as RequestContext;
    const request = { message, method: "PUT", path } as unknown as LocalRequest;
    return run(request, context).then(
      () => context.authorizer,
      ({ message }: Error) => [message, context.authorizer?.keyId],
    );
  };
  return { invoke, authorize };
}

it("caches a policy for its time and every path, and no failure", async () => {
  const { invoke, authorize } = start();
  invoke.mockRejectedValueOnce(new Error("failed"));
  expect(await authorize()).toEqual(["AUTHORIZER_CONFIGURATION_ERROR", undefined]);
  const now = jest.spyOn(performance, "now").mockReturnValue(1000);
  expect(await authorize()).toEqual({ keyId: "key_1", principalId: "p" });
  expect(await authorize(["a"], "/b")).toEqual(["ACCESS_DENIED", "key_1"]);
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
    expect(await authorize(tokens)).toEqual(["UNAUTHORIZED", undefined]);
  expect(invoke).not.toHaveBeenCalled();
});
