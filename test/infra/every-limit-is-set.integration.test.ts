import { describe, expect, it } from "@jest/globals";
import { esbuildOptions } from "../../infra/bundle/options.ts";
import { stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import { ATTEMPTS, TIMEOUT_MS } from "../../lib/dynamo/client.ts";
import { EARLY_RESPONSE_MS } from "../../lib/http/handler.ts";
import { everyOption } from "../support/every-option.ts";
import { readResources } from "../support/resources.ts";
import { shared } from "../support/shared.ts";

// What limits a client, a request and a function. stages.integration.test.ts has the limits that no stage sets.

describe.each([...deployedStages, everyOption])("in $name", (settings) => {
  const { name: stage, throttling } = settings;
  const assembly = settings === everyOption ? shared.optionsAssembly : shared.assembly;
  const { find, fn, only } = readResources(assembly, stackName(stage));
  const api = only("ApiGateway::RestApi");
  const apiStage = only("ApiGateway::Stage");

  it("the stage limits all clients together, for every method, and logs no body, key or error text", () => {
    expect(apiStage.RestApiId).toBe(api.id);
    const { rate: ThrottlingRateLimit, burst: ThrottlingBurstLimit } = throttling;
    const limit = { HttpMethod: "*", ResourcePath: "/*", ThrottlingRateLimit, ThrottlingBurstLimit };
    // Without a LoggingLevel there are no execution logs.
    expect(apiStage.MethodSettings).toEqual([{ ...limit, DataTraceEnabled: false }]);
  });

  it("keys of other stages are refused, and API Gateway caches a key as long as the stage says", () => {
    expect(fn("authorize").Environment.Variables.STAGE).toBe(stage);
    expect(only("ApiGateway::Authorizer")).toMatchObject({
      IdentitySource: "method.request.header.Authorization",
      AuthorizerResultTtlInSeconds: settings.authorizerCacheSeconds,
    });
  });

  it("clients need TLS 1.2, and a Host header that is the name in their TLS handshake", () => {
    expect(api.SecurityPolicy).toMatch(/^SecurityPolicy_TLS13_1_[23]_/);
    expect(api.EndpointAccessMode).toBe("STRICT");
  });

  it("every function has time to fail by itself, on the runtime that it was bundled for", () => {
    for (const { Timeout, Runtime } of find("Lambda::Function")) {
      // The client of DynamoDB gives up first, also with a second for the pauses between its attempts. Then the function
      // responds, before its timeout and before API Gateway gives up.
      const responds = Timeout * 1000 - EARLY_RESPONSE_MS;
      expect(responds).toBeGreaterThan(ATTEMPTS * TIMEOUT_MS + 1000);
      expect(responds).toBeLessThan(Timeout * 1000);
      expect(Timeout).toBeLessThan(29);
      expect(Runtime).toBe(`${esbuildOptions.target.replace("node", "nodejs")}.x`);
    }
  });
});
