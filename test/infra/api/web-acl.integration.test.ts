import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { everyOption } from "../../support/every-option.ts";
import type { Json } from "../../support/json.ts";
import { arnOf, readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

/** What AWS WAF does to text before it compares it (WAF API reference, `TextTransformation`). */
const transformations: Record<string, (text: string) => string> = {
  LOWERCASE: (text) => text.toLowerCase(),
  COMPRESS_WHITE_SPACE: (text) => text.replaceAll(/[\f\t\n\r\v\u00a0 ]+/g, " "),
};

describe.each([...deployedStages, everyOption])("in $name", (settings) => {
  const { name: stage, throttling, wafRateLimits } = settings;
  const assembly = settings === everyOption ? shared.optionsAssembly : shared.assembly;
  const { find, only } = readResources(assembly, stackName(stage));
  if (!wafRateLimits) {
    it("there is no web ACL", () => expect(find("WAFv2::WebACL")).toEqual([]));
    return;
  }

  const [api, apiStage] = [only("ApiGateway::RestApi"), only("ApiGateway::Stage")];
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
      expect(Limit).toBeLessThan((60 * throttling.rate) / 2); // requests a minute, in wafRateLimits and throttling
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
