import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { deployedStages, stackName } from "../../../infra/stages.ts";
import { arnOf, functionNames, readResources } from "../../support/resources.ts";

// What the stages do not use, and what the runbook uses once. data.test.ts has -c deletionProtection=off.
const assembly = process.env.TEST_OPTIONS_ASSEMBLY ?? "";

it("deploys even if alarms are triggered with -c canaryAlarms=off, and with no other option", () => {
  for (const { name } of deployedStages.filter(({ canaryDeployment }) => canaryDeployment)) {
    const [without, others] = [join(assembly, "canaryAlarms"), assembly].map((folder) =>
      readResources(folder, stackName(name))
        .find("CodeDeploy::DeploymentGroup")
        .map(({ AlarmConfiguration }) => AlarmConfiguration.Enabled),
    );
    expect(without).toEqual(functionNames.map(() => false));
    expect(others).toEqual(functionNames.map(() => true));
  }
});

describe("a stage with every option", () => {
  const { callersOf, find, fn, only, output } = readResources(assembly, "every-option");
  const [domain, api, stage] = ["DomainName", "RestApi", "Stage"].map((type) => only(`ApiGateway::${type}`));

  it("turns the default endpoint off only in a second step after the custom domain name", () => {
    const first = readResources(assembly, "both-endpoints");
    expect(first.output("BaseUrl")).toBe(output("BaseUrl"));
    expect(first.only("ApiGateway::RestApi").DisableExecuteApiEndpoint).toBe(false);
    expect(api.DisableExecuteApiEndpoint).toBe(true);
    // The change takes effect with a new deployment of the API (API Gateway guide, "Disable the default endpoint").
    expect(first.only("ApiGateway::Deployment").id).not.toBe(only("ApiGateway::Deployment").id);
    for (const { name, domain } of deployedStages) {
      const deployed = readResources(assembly, stackName(name)).only("ApiGateway::RestApi");
      expect(deployed.DisableExecuteApiEndpoint).toBe(domain?.only ?? false);
    }
  });

  it("maps the custom domain name to the stage of the API, at its version, with the same TLS policy", () => {
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

  it.each(functionNames)(
    "keeps instances of %s started on the alias that callers invoke, and reserves more",
    (name) => {
      const { id, ReservedConcurrentExecutions: reserved } = fn(name);
      const [alias, ...others] = find("Lambda::Alias").filter(({ FunctionName }) => FunctionName === id);
      const { ProvisionedConcurrentExecutions: started } = alias.ProvisionedConcurrencyConfig;
      expect([started, reserved, others]).toEqual(name === "authorize" ? [2, 20, []] : [5, 50, []]);
      expect(callersOf(alias.id)).toHaveLength(1);
    },
  );

  it("configures listPets with the shards to read and createPet with the shards to write", () => {
    const shards = ["listPets", "createPet"].map((name) => fn(name).Environment.Variables.STATUS_SHARDS);
    expect(shards).toEqual(["8", "4"]);
  });
});

it("trusts the OIDC provider that an account already has, and has no diff role unless wanted", () => {
  const { find, output } = readResources(assembly, "existing-provider");
  expect(find("IAM::OIDCProvider")).toEqual([]);
  const trust = find("IAM::Role").flatMap(({ AssumeRolePolicyDocument: { Statement } }) => Statement);
  const trusted = trust.filter(({ Principal }) =>
    Principal.Federated?.endsWith(":oidc-provider/token.actions.githubusercontent.com"),
  );
  expect(trusted).toHaveLength(deployedStages.length);
  expect(output("DiffRoleArn")).toBeUndefined();
});
