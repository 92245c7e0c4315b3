import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import type { Json } from "../support/json.ts";
import { arnOf, functionNames, readResources } from "../support/resources.ts";
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

describe.each(stageVariants)("$name, $settings", ({ assembly, ...stage }) => {
  const { find, fn, only } = readResources(assembly, stackName(stage.name));

  it("caches and logs as its settings say", () => {
    const { AuthorizerResultTtlInSeconds } = only("ApiGateway::Authorizer");
    expect(AuthorizerResultTtlInSeconds).toBe(stage.authorizerCacheSeconds);
    const log = [stage.logRetentionDays, stage.retainData ? "RetainExceptOnCreate" : "Delete"];
    for (const { RetentionInDays, DeletionPolicy } of find("Logs::LogGroup"))
      expect([RetentionInDays, DeletionPolicy]).toEqual(log);
    for (const { LoggingConfig } of functionNames.map(fn))
      expect(LoggingConfig.SystemLogLevel).toBe(stage.systemLogLevel);
    expect(fn("authorize").Environment.Variables.STAGE).toBe(stage.name); // whose keys it accepts
  });

  it("has its throttling, and its limits of AWS WAF for an address and a key", () => {
    const [{ ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst }] =
      only("ApiGateway::Stage").MethodSettings;
    expect({ rate, burst }).toEqual(stage.throttling);
    const rules = find("WAFv2::WebACL").flatMap(({ Rules }) => Rules);
    const limits = Object.values(stage.wafRateLimits ?? {});
    const statements: Json[] = rules.map(({ Statement }: Json) => Statement.RateBasedStatement);
    expect(statements).toMatchObject(limits.map((Limit) => ({ Limit, EvaluationWindowSec: 60 })));
    for (const { Header } of statements.flatMap(({ CustomKeys = [] }) => CustomKeys)) {
      expect(only("ApiGateway::Authorizer").IdentitySource).toBe(`method.request.header.${Header.Name}`);
      const types = Header.TextTransformations.map(({ Type }: Json) => Type);
      expect(types).toEqual(["LOWERCASE", "COMPRESS_WHITE_SPACE"]); // any spelling of `Bearer` and its spaces is one key
    }
  });
});

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
