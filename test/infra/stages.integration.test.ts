import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { deployedStages, type Stage } from "../../infra/stages.ts";
import { readTemplate } from "../../tools/generate/reviewed-templates.ts";
import { everyOption } from "../support/every-option.ts";
import type { Json } from "../support/json.ts";
import { arnOf, readResources } from "../support/resources.ts";
import { shared } from "../support/shared.ts";

// What the stages do not use, and what the procedures use once. tables.integration.test.ts has -c deletionProtection=off.
const assembly = shared.optionsAssembly;

it("warns of each stage that keeps data and whose alarms have no address", () => {
  const warns = ({ name }: Stage) =>
    readFileSync(`${assembly}/${stackName(name)}.metadata.json`, "utf8").includes("set alarmEmails");
  const stages = [...deployedStages, everyOption];
  expect(stages.filter(warns)).toEqual(stages.filter((one) => one.retainData && !one.alarmEmails));
});

describe("a stage with every option", () => {
  const { find, only, output } = readResources(assembly, stackName(everyOption.name));
  const [domain, api, stage] = ["DomainName", "RestApi", "Stage"].map((type) => only(`ApiGateway::${type}`));

  it("serves only under its domain name, at its version, with the API's TLS policy", () => {
    const { SecurityPolicy, EndpointAccessMode, EndpointConfiguration, DisableExecuteApiEndpoint } = api;
    expect(domain).toMatchObject({ SecurityPolicy, EndpointAccessMode, EndpointConfiguration });
    expect(DisableExecuteApiEndpoint).toBe(true);
    // Without a stage in the mapping, clients would have to name it in the path a second time.
    const mapping = { DomainName: domain.id, RestApiId: api.id, Stage: stage.id, BasePath: stage.StageName };
    expect(only("ApiGateway::BasePathMapping")).toMatchObject(mapping);
    expect(output("BaseUrl")).toBe(`https://${domain.DomainName}/${stage.StageName}`);
    const AliasTarget = { DNSName: arnOf(domain.id), HostedZoneId: arnOf(domain.id) };
    expect(only("Route53::RecordSet")).toMatchObject({ Name: `${domain.DomainName}.`, AliasTarget });
  });

  it("subscribes the addresses of the stage to their topics", () => {
    expect(find("SNS::Subscription")).toMatchObject([
      { Protocol: "email", TopicArn: output("PageTopicArn"), Endpoint: "on-call@example.com" },
      { Protocol: "email", TopicArn: output("NoticeTopicArn"), Endpoint: "team@example.com" },
    ]);
  });

  it("has its throttling, and the limits of AWS WAF for an address and for a key", () => {
    const [{ ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst }] = stage.MethodSettings;
    expect({ rate, burst }).toEqual(everyOption.throttling);
    const rules: Json[] = only("WAFv2::WebACL").Rules;
    expect(rules.map(({ Statement }) => Statement.RateBasedStatement.Limit)).toEqual(
      Object.values(everyOption.wafRateLimits ?? {}),
    );
  });
});

it("a personal stage has the template of staging, and its alarms notify nobody", () => {
  const hashes = /[0-9a-f]{32}|[0-9A-F]{8}/g; // in ids; the longer one first, because it can contain the other
  const [own, staging] = ["anna", deployedStages[0]?.name ?? ""].map((name) => {
    const text = JSON.stringify(readTemplate(shared.accountAssembly, stackName(name)));
    return JSON.parse(text.replaceAll(hashes, "").replaceAll(name, "<name>"));
  });
  for (const [id, { Type }] of Object.entries<Json>(staging.Resources))
    if (Type === "AWS::SNS::Subscription") delete staging.Resources[id];
  expect(own).toEqual(staging);
});
