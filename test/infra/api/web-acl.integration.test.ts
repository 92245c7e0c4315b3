import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import type { Json } from "../../support/json.ts";
import { readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

/** What AWS WAF does to text before it compares it (WAF API reference, `TextTransformation`). */
const transformations: Record<string, (text: string) => string> = {
  LOWERCASE: (text) => text.toLowerCase(),
  COMPRESS_WHITE_SPACE: (text) => text.replaceAll(/[\f\t\n\r\v\u00a0 ]+/g, " "),
};

describe.each(deployedStages.filter(({ wafRateLimits }) => wafRateLimits))(
  "in $name",
  ({ name, throttling }) => {
    const acl = readResources(shared.assembly, stackName(name)).only("WAFv2::WebACL");
    const [ofAddress, ofKey] = acl.Rules.map(({ Statement }: Json) => Statement.RateBasedStatement);
    const [{ Header }] = ofKey.CustomKeys;

    it("AWS WAF counts every request of an address, and of a key however it is written", () => {
      for (const statement of [ofAddress, ofKey]) expect(statement).not.toHaveProperty("ScopeDownStatement");
      expect(ofAddress).toMatchObject({ AggregateKeyType: "IP" });
      const CustomKeys = [{ Header: { Name: "Authorization" } }];
      expect(ofKey).toMatchObject({ AggregateKeyType: "CUSTOM_KEYS", CustomKeys });
      const steps = Header.TextTransformations.toSorted((a: Json, b: Json) => a.Priority - b.Priority);
      const counted = (text: string) =>
        steps.reduce((t: string, { Type }: Json) => transformations[Type]?.(t), text);
      const key = "ask_production_0";
      const written = ["Bearer ", "bEaReR ", "BEARER   ", "Bearer\t"].map((scheme) => counted(scheme + key));
      expect(new Set(written).size).toBe(1);
      expect(counted(`Bearer ${key}1`)).not.toBe(counted(`Bearer ${key}2`));
    });

    it("AWS WAF blocks each of them well below the throttling of a method", () => {
      for (const { Limit } of [ofAddress, ofKey]) expect(Limit).toBeLessThan((60 * throttling.rate) / 2);
    });
  },
);
