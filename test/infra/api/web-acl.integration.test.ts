import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { everyOption } from "../../support/every-option.ts";
import type { Json } from "../../support/json.ts";
import { readResources } from "../../support/resources.ts";
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

  it("AWS WAF blocks each of them well below the throttling of a method", () => {
    // AWS WAF refuses rules, and transformations of one text, with the same priority.
    for (const ordered of [acl.Rules, Header.TextTransformations])
      expect(new Set(ordered.map(({ Priority }: Json) => Priority)).size).toBe(ordered.length);
    const { perIpPerMinute, perKeyPerMinute } = wafRateLimits;
    expect([ofAddress.Limit, ofKey.Limit]).toEqual([perIpPerMinute, perKeyPerMinute]);
    for (const { Limit } of [ofAddress, ofKey]) expect(Limit).toBeLessThan((60 * throttling.rate) / 2);
  });
});
