import { describe, expect, it } from "@jest/globals";
import { esbuildOptions } from "../../infra/bundle/options.ts";
import { stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import { everyOption } from "../support/every-option.ts";
import type { Json } from "../support/json.ts";
import { arnOf, readResources } from "../support/resources.ts";
import { shared } from "../support/shared.ts";

// What limits a client, a request and a function. options.test.ts has the limits that no stage sets.

/** What AWS WAF does to text before it compares it (WAF API reference, `TextTransformation`). */
const transformations: Record<string, (text: string) => string> = {
  LOWERCASE: (text) => text.toLowerCase(),
  COMPRESS_WHITE_SPACE: (text) => text.replaceAll(/[\f\t\n\r\v\u00a0 ]+/g, " "),
};

describe.each([...deployedStages, everyOption])("in $name", (settings) => {
  const { name: stage, throttling, wafRateLimits } = settings;
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
      // Three attempts of a second, their pauses, and the half second before the timeout in which it responds; and less
      // than API Gateway waits.
      expect(Timeout).toBeGreaterThan(4.5);
      expect(Timeout).toBeLessThan(29);
      expect(Runtime).toBe(`${esbuildOptions.target.replace("node", "nodejs")}.x`);
    }
  });

  if (!wafRateLimits) {
    it("there is no web ACL", () => expect(find("WAFv2::WebACL")).toEqual([]));
    return;
  }

  const acl = only("WAFv2::WebACL");
  const [ofAddress, ofKey] = acl.Rules.map(({ Statement }: Json) => Statement.RateBasedStatement);
  const [{ Header }, ...otherKeys] = ofKey.CustomKeys;

  it("AWS WAF counts every request of an address, and of a key however it is written", () => {
    for (const { ScopeDownStatement } of [ofAddress, ofKey]) expect(ScopeDownStatement).toBeUndefined();
    expect([ofAddress.AggregateKeyType, ofKey.AggregateKeyType]).toEqual(["IP", "CUSTOM_KEYS"]);
    expect([Header.Name, otherKeys]).toEqual(["Authorization", []]);
    const steps = Header.TextTransformations.toSorted((a: Json, b: Json) => a.Priority - b.Priority);
    const counted = (text: string) =>
      steps.reduce((t: string, { Type }: Json) => transformations[Type]?.(t), text);
    const key = "ask_production_0";
    const written = ["Bearer ", "bEaReR ", "BEARER   ", "Bearer\t"].map((scheme) => counted(scheme + key));
    expect(new Set(written).size).toBe(1);
    expect(counted(`Bearer ${key}1`)).not.toBe(counted(`Bearer ${key}2`));
  });

  it("AWS WAF blocks each of them well below the limit of all clients", () => {
    // AWS WAF refuses rules, and transformations of one text, with the same priority.
    for (const ordered of [acl.Rules, Header.TextTransformations])
      expect(new Set(ordered.map(({ Priority }: Json) => Priority)).size).toBe(ordered.length);
    const { perIpPerMinute, perKeyPerMinute } = wafRateLimits;
    expect([ofAddress.Limit, ofKey.Limit]).toEqual([perIpPerMinute, perKeyPerMinute]);
    for (const { Limit, EvaluationWindowSec } of [ofAddress, ofKey]) {
      expect(EvaluationWindowSec).toBe(60);
      expect(Limit / 60).toBeLessThan(throttling.rate / 2);
    }
    expect(acl.DefaultAction).toEqual({ Allow: {} });
    for (const { Action } of acl.Rules) expect(Action).toEqual({ Block: {} });
  });

  it("AWS WAF protects the stage, counts for the dashboard, and keeps no request", () => {
    expect(only("WAFv2::WebACLAssociation")).toMatchObject({
      ResourceArn: `arn:aws:apigateway:local::/restapis/${api.id}/stages/${apiStage.id}`,
      WebACLArn: arnOf(acl.id),
    });
    // AWS WAF has no dimension for the stack.
    expect(acl.VisibilityConfig.MetricName).toContain(stackName(stage));
    const { DashboardBody } = only("CloudWatch::Dashboard");
    for (const { Name, VisibilityConfig } of [acl, ...acl.Rules]) {
      const { MetricName, ...visible } = VisibilityConfig;
      expect(visible).toEqual({ CloudWatchMetricsEnabled: true, SampledRequestsEnabled: false });
      expect(DashboardBody).toContain(`"${Name ? "Rule" : "WebACL"}","${MetricName}"`);
    }
  });
});
