import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { deployedStages, type Stage } from "../../infra/stages.ts";
import { everyOption } from "../support/every-option.ts";
import type { Json } from "../support/json.ts";
import { arnOf, functionNames, readResources } from "../support/resources.ts";
import { readTemplate } from "../support/reviewed-templates.ts";
import { shared } from "../support/shared.ts";

// What the stages do not use, and what the procedures use once. tables.integration.test.ts has -c deletionProtection=off.
const assembly = shared.optionsAssembly;

it.each(deployedStages.filter(({ canaryDeployment }) => canaryDeployment))(
  "deploys $name even if alarms are triggered with -c canaryAlarms=off, and not without it",
  ({ name }) => {
    const enabled = (folder: string) =>
      readResources(folder, stackName(name))
        .find("CodeDeploy::DeploymentGroup")
        .map(({ AlarmConfiguration }) => AlarmConfiguration.Enabled);
    expect({ off: enabled(assembly), on: enabled(shared.assembly) }).toEqual({
      off: functionNames.map(() => false),
      on: functionNames.map(() => true),
    });
  },
);

it("warns of each stage that keeps data and whose alarms have no address", () => {
  const warns = ({ name }: Stage) =>
    readFileSync(`${assembly}/${stackName(name)}.metadata.json`, "utf8").includes("set alarmEmails");
  const stages = [...deployedStages, everyOption];
  expect(stages.filter(warns)).toEqual(stages.filter((one) => one.retainData && !one.alarmEmails));
});

describe("a stage with every option", () => {
  const { find, fn, only, output } = readResources(assembly, stackName(everyOption.name));
  const [domain, api, stage] = ["DomainName", "RestApi", "Stage"].map((type) => only(`ApiGateway::${type}`));

  it("turns the default endpoint off only in a second step after the custom domain name", () => {
    const first = readResources(assembly, "both-endpoints");
    expect(first.output("BaseUrl")).toBe(output("BaseUrl"));
    expect(first.only("ApiGateway::RestApi")).toMatchObject({ DisableExecuteApiEndpoint: false });
    expect(api).toMatchObject({ DisableExecuteApiEndpoint: true });
    // The change takes effect with a new deployment of the API (API Gateway guide, "Disable the default endpoint").
    expect(first.only("ApiGateway::Deployment").id).not.toBe(only("ApiGateway::Deployment").id);
  });

  it("maps the custom domain name to the API, at its version, with its TLS policy", () => {
    const { SecurityPolicy, EndpointAccessMode, EndpointConfiguration } = api;
    expect(domain).toMatchObject({ SecurityPolicy, EndpointAccessMode, EndpointConfiguration });
    // Without a stage in the mapping, clients would have to name it in the path a second time.
    expect(only("ApiGateway::BasePathMapping")).toMatchObject({
      DomainName: domain.id,
      RestApiId: api.id,
      Stage: stage.id,
      BasePath: stage.StageName,
    });
    expect(output("BaseUrl")).toBe(`https://${domain.DomainName}/${stage.StageName}`);
    expect(only("Route53::RecordSet")).toMatchObject({
      Name: `${domain.DomainName}.`,
      AliasTarget: { DNSName: arnOf(domain.id), HostedZoneId: arnOf(domain.id) },
    });
  });

  it("subscribes the addresses of the stage to their topics", () => {
    expect(find("SNS::Subscription")).toMatchObject([
      { Protocol: "email", TopicArn: output("PageTopicArn"), Endpoint: "on-call@example.com" },
      { Protocol: "email", TopicArn: output("NoticeTopicArn"), Endpoint: "team@example.com" },
    ]);
  });

  it("has its throttling, and the limits of AWS WAF for an address and for a key", () => {
    const { throttling, wafRateLimits } = everyOption;
    const [settings] = stage.MethodSettings;
    const limits = only("WAFv2::WebACL").Rules.map(
      ({ Statement }: Json) => Statement.RateBasedStatement.Limit,
    );
    expect({ rate: settings.ThrottlingRateLimit, burst: settings.ThrottlingBurstLimit }).toEqual(throttling);
    expect(limits).toEqual([wafRateLimits?.perIpPerMinute, wafRateLimits?.perKeyPerMinute]);
  });

  it.each(functionNames)("reserves the instances of %s", (name) => {
    const kind = name === "authorize" ? "authorizer" : "operation";
    expect(fn(name).ReservedConcurrentExecutions).toBe(everyOption.reservedConcurrency?.[kind]);
  });
});

describe("a personal stage", () => {
  const templateOf = (name: string) => readTemplate(shared.accountAssembly, stackName(name));
  it("has the template of staging, and sends alarms to nobody", () => {
    const hashes = /[0-9a-f]{32}|[0-9A-F]{8}/g; // in ids; the longer one first, because it can contain the other
    const [own, staging] = ["anna", deployedStages[0]?.name ?? ""].map((name) =>
      JSON.parse(JSON.stringify(templateOf(name)).replaceAll(hashes, "").replaceAll(name, "<name>")),
    );
    for (const [id, { Type }] of Object.entries<Json>(staging.Resources))
      if (Type === "AWS::SNS::Subscription") delete staging.Resources[id];
    expect(own).toEqual(staging);
  });

  // Versions cost nothing. They go with their function.
  it("leaves nothing behind that costs when it is destroyed", () => {
    const resources = Object.values<Json>(templateOf("anna").Resources);
    const kept = resources.filter(({ DeletionPolicy = "Delete" }) => DeletionPolicy !== "Delete");
    expect(kept.filter(({ Type }) => Type !== "AWS::Lambda::Version")).toEqual([]);
  });
});
