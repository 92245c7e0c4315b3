import { describe, expect, it } from "@jest/globals";
import type { Json } from "../../../infra/assembly/intrinsics.ts";
import { esbuildOptions } from "../../../infra/bundle/options.ts";
import { deployedStages, stackName } from "../../../infra/stages.ts";
import { arnOf, readResources } from "../../support/resources.ts";

// What limits a client, a request and a function. options.test.ts has the limits that no stage sets.

/** What AWS WAF does to text before it compares it (WAF API reference, `TextTransformation`). */
const transformations: Record<string, (text: string) => string> = {
  NONE: (text) => text,
  LOWERCASE: (text) => text.toLowerCase(),
  COMPRESS_WHITE_SPACE: (text) => text.replaceAll(/[\f\t\n\r\v\u00a0 ]+/g, " "),
};

type WafRequest = { ip: string; headers: Record<string, string> };

/**
 * Returns what a rate rule counts a request under, or undefined if it does not count it (WAF API reference,
 * `RateBasedStatement`).
 */
function countedAs({ AggregateKeyType, CustomKeys, ScopeDownStatement }: Json, { ip, headers }: WafRequest) {
  expect(ScopeDownStatement).toBeUndefined(); // counts every request
  if (AggregateKeyType === "IP") return ip;
  expect([AggregateKeyType, CustomKeys.length]).toEqual(["CUSTOM_KEYS", 1]);
  const [{ Header }] = CustomKeys;
  const text = Object.entries(headers).find(
    ([name]) => name.toLowerCase() === Header.Name.toLowerCase(),
  )?.[1];
  return Header.TextTransformations.toSorted((a: Json, b: Json) => a.Priority - b.Priority).reduce(
    (value: string | undefined, { Type }: Json) => value && transformations[Type]?.(value),
    text,
  );
}

describe.each(deployedStages)(
  "in $name",
  ({ name: stage, throttling, wafRateLimits, authorizerCacheSeconds }) => {
    const { find, fn, only } = readResources(process.env.TEST_ASSEMBLY, stackName(stage));
    const api = only("ApiGateway::RestApi");
    const apiStage = only("ApiGateway::Stage");

    it("the stage limits all clients together, for every method, and has no execution log", () => {
      expect(apiStage.RestApiId).toBe(api.id);
      expect(apiStage.MethodSettings).toEqual([
        {
          HttpMethod: "*",
          ResourcePath: "/*",
          DataTraceEnabled: false, // it would log bodies and keys. A LoggingLevel would log error texts
          ThrottlingRateLimit: throttling.rate,
          ThrottlingBurstLimit: throttling.burst,
        },
      ]);
    });

    it("keys of other stages are refused, and API Gateway caches a key as long as the stage says", () => {
      expect(fn("authorize").Environment.Variables.STAGE).toBe(stage);
      expect(only("ApiGateway::Authorizer")).toMatchObject({
        Type: "TOKEN",
        IdentitySource: "method.request.header.Authorization",
        AuthorizerResultTtlInSeconds: authorizerCacheSeconds,
      });
    });

    it("clients need TLS 1.2, and a Host header that is the name in their TLS handshake", () => {
      expect(api.SecurityPolicy).toMatch(/^SecurityPolicy_TLS13_1_2_PFS/);
      expect(api.EndpointAccessMode).toBe("STRICT");
      expect(api.EndpointConfiguration).toEqual({ Types: ["REGIONAL"] });
    });

    it("every function has time to fail by itself, on the runtime that it was bundled for", () => {
      for (const { Properties } of find("Lambda::Function")) {
        const { Timeout, Runtime } = Properties;
        // Three attempts of a second, their pauses, and the half second before the time-out in which it responds; and less
        // than API Gateway waits.
        expect(Timeout).toBeGreaterThan(4.5);
        expect(Timeout).toBeLessThan(29);
        expect(Runtime).toBe(`${esbuildOptions.target.replace("node", "nodejs")}.x`);
      }
    });

    if (!wafRateLimits) {
      it("there is no firewall", () => {
        expect(find("WAFv2::WebACL")).toEqual([]);
      });
      return;
    }

    const acl = only("WAFv2::WebACL");
    const [ofAddress, ofKey] = acl.Rules.map(({ Statement }: Json) => Statement.RateBasedStatement);
    const key = "ask_production_0";
    const request = (ip: string, headers: Record<string, string> = {}): WafRequest => ({ ip, headers });
    const counted = (rule: Json, requests: WafRequest[]) =>
      [...new Set(requests.map((one) => countedAs(rule, one)))].length;

    it("the firewall counts an address, whatever it sends", () => {
      const headers = ["1", "2"].map((n) => ({ Authorization: `Bearer ${key}${n}`, "X-Forwarded-For": n }));
      const requests = headers.map((sent) => request("192.0.2.1", sent));
      expect(counted(ofAddress, requests)).toBe(1);
      expect(counted(ofAddress, [...requests, request("192.0.2.2")])).toBe(2);
    });

    it("the firewall counts a key, whatever its address and however it is written", () => {
      const written = [`Bearer ${key}`, `bEaReR ${key}`, `BEARER   ${key}`, `Bearer\t${key}`];
      const requests = written.map((Authorization, n) => request(`192.0.2.${n}`, { Authorization }));
      expect(counted(ofKey, requests)).toBe(1);
      expect(counted(ofKey, [request("192.0.2.1", { authorization: `Bearer ${key}` }), ...requests])).toBe(1);
      const keys = ["1", "2"].map((n) => request("192.0.2.1", { Authorization: `Bearer ${key}${n}` }));
      expect(counted(ofKey, keys)).toBe(2);
      expect(countedAs(ofKey, request("192.0.2.1"))).toBeUndefined();
    });

    it("the firewall blocks each of them for a minute's excess, well below the limit of all clients", () => {
      const { perAddress, perKey } = wafRateLimits;
      // AWS WAF refuses rules, and transformations of one text, with the same priority.
      const { TextTransformations } = ofKey.CustomKeys[0].Header;
      for (const ordered of [acl.Rules, TextTransformations])
        expect(ordered.map(({ Priority }: Json) => Priority)).toEqual([0, 1]);
      expect([ofAddress.Limit, ofKey.Limit]).toEqual([perAddress, perKey]);
      for (const { Limit, EvaluationWindowSec } of [ofAddress, ofKey]) {
        expect(EvaluationWindowSec).toBe(60);
        expect(Limit / EvaluationWindowSec).toBeLessThan(throttling.rate / 2);
      }
      expect(acl.DefaultAction).toEqual({ Allow: {} });
      for (const { Action } of acl.Rules) expect(Action).toEqual({ Block: {} });
    });

    it("the firewall protects the stage, counts for the dashboard, and keeps no request", () => {
      expect(acl.Scope).toBe("REGIONAL");
      expect(only("WAFv2::WebACLAssociation")).toMatchObject({
        ResourceArn: `arn:aws:apigateway:local::/restapis/${api.id}/stages/${apiStage.id}`,
        WebACLArn: arnOf(acl.id),
      });
      const { DashboardBody } = only("CloudWatch::Dashboard");
      expect(DashboardBody.match(/"Region","local"/g)).toHaveLength(acl.Rules.length);
      // AWS WAF has no dimension for the stack.
      expect(acl.VisibilityConfig.MetricName).toContain(stackName(stage));
      for (const { Name, VisibilityConfig } of [acl, ...acl.Rules]) {
        expect(VisibilityConfig).toMatchObject({
          CloudWatchMetricsEnabled: true,
          SampledRequestsEnabled: false,
        });
        expect(DashboardBody).toContain(`"${Name ? "Rule" : "WebACL"}","${VisibilityConfig.MetricName}"`);
      }
    });
  },
);
