import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import type { Json } from "../support/json.ts";
import { arnOf, readResources } from "../support/resources.ts";
import { filledIn, stageVariants } from "../support/stages.ts";

it("protects a stage that keeps data against deletion and floods", () => {
  const kept = deployedStages.filter(({ retainData }) => retainData);
  expect(kept).not.toEqual([]);
  const safe = { deletionProtection: true, wafRateLimits: expect.anything() };
  for (const stage of kept) expect(stage).toMatchObject(safe);
});

it("warns of each stage that keeps data and whose alarms have no address", () => {
  const warns = ({ name, assembly }: (typeof stageVariants)[number]) =>
    readFileSync(`${assembly}/${stackName(name)}.metadata.json`, "utf8").includes("set alarmEmails");
  expect(stageVariants.filter(warns)).toEqual(
    stageVariants.filter((one) => one.retainData && !one.alarmEmails),
  );
});

it.each(stageVariants.filter(({ wafRateLimits }) => wafRateLimits))(
  "AWS WAF counts all spellings of a key together in $name, $settings",
  ({ name, assembly }) => {
    const { only } = readResources(assembly, stackName(name));
    const statements: Json[] = only("WAFv2::WebACL").Rules.map(
      ({ Statement }: Json) => Statement.RateBasedStatement,
    );
    const [header, ...others] = statements.flatMap(({ CustomKeys = [] }) =>
      CustomKeys.map(({ Header }: Json) => Header),
    );
    expect(others).toEqual([]);
    expect(only("ApiGateway::Authorizer").IdentitySource).toBe(`method.request.header.${header.Name}`);
    const types = header.TextTransformations.map(({ Type }: Json) => Type);
    expect(types).toEqual(["LOWERCASE", "COMPRESS_WHITE_SPACE"]); // of `Bearer`, and its spaces
  },
);

describe.each(filledIn.settings.stages)("$name, filled in", ({ name, alarmEmails, ...settings }) => {
  const { find, only, output } = readResources(filledIn.assembly, stackName(name));
  const [domain, api, stage] = ["DomainName", "RestApi", "Stage"].map((type) => only(`ApiGateway::${type}`));

  it("serves under its domain name, or only there, at its version, with the API's TLS policy", () => {
    const { SecurityPolicy, EndpointAccessMode, EndpointConfiguration, DisableExecuteApiEndpoint } = api;
    expect(domain).toMatchObject({ SecurityPolicy, EndpointAccessMode, EndpointConfiguration });
    expect(DisableExecuteApiEndpoint).toBe(settings.domain?.disableDefaultEndpoint);
    // Without a stage in the mapping, clients would have to name it in the path a second time.
    const mapping = { DomainName: domain.id, RestApiId: api.id, Stage: stage.id, BasePath: stage.StageName };
    expect(only("ApiGateway::BasePathMapping")).toMatchObject(mapping);
    expect(output("BaseUrl")).toBe(`https://${domain.DomainName}/${stage.StageName}`);
    const AliasTarget = { DNSName: arnOf(domain.id), HostedZoneId: arnOf(domain.id) };
    expect(only("Route53::RecordSet")).toMatchObject({ Name: `${domain.DomainName}.`, AliasTarget });
  });

  it("subscribes its addresses to their topics", () => {
    expect(find("SNS::Subscription")).toMatchObject([
      { Protocol: "email", TopicArn: output("PageTopicArn"), Endpoint: alarmEmails?.page },
      { Protocol: "email", TopicArn: output("NoticeTopicArn"), Endpoint: alarmEmails?.notice },
    ]);
  });
});
