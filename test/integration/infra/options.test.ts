import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { pascalCase } from "../../../infra/pascal-case.ts";
import { accountStackName, deployedStages, stackName } from "../../../infra/stages.ts";
import { everyOption } from "../../support/every-option.ts";
import type { Json } from "../../support/json.ts";
import { arnOf, functionNames, readResources } from "../../support/resources.ts";

// What the stages do not use, and what the procedures use once. data.test.ts has -c deletionProtection=off.
const assembly = process.env.TEST_OPTIONS_ASSEMBLY ?? "";

it("deploys even if alarms are triggered with -c canaryAlarms=off, and not without it", () => {
  for (const { name } of deployedStages.filter(({ canaryDeployment }) => canaryDeployment)) {
    const [off, on] = [assembly, process.env.TEST_ASSEMBLY].map((folder) =>
      readResources(folder, stackName(name))
        .find("CodeDeploy::DeploymentGroup")
        .map(({ AlarmConfiguration }) => AlarmConfiguration.Enabled),
    );
    expect([off, on]).toEqual([functionNames.map(() => false), functionNames.map(() => true)]);
  }
});

it("counts the throttles of a table and operation once, however many accesses a function has to it", () => {
  expect(readResources(assembly, "two-accesses").output("Throttles")).toBe("Query on Pets");
});

describe("a stage with every option", () => {
  const { callersOf, find, fn, only, output } = readResources(assembly, stackName(everyOption.name));
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
      expect(deployed.DisableExecuteApiEndpoint).toBe(domain?.disableDefaultEndpoint ?? false);
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
      const kind = name === "authorize" ? "authorizer" : "operation";
      const { provisionedConcurrency, reservedConcurrency } = everyOption;
      expect([started, reserved]).toEqual([provisionedConcurrency?.[kind], reservedConcurrency?.[kind]]);
      expect([others, callersOf(alias.id).length]).toEqual([[], 1]);
    },
  );

  it("configures listPets with the shards to read and createPet with the shards to write", () => {
    const shards = ["listPets", "createPet"].map((name) => fn(name).Environment.Variables.STATUS_SHARDS);
    expect(shards).toEqual([everyOption.statusShards.read, everyOption.statusShards.write].map(String));
  });
});

describe("stages in several regions, and a personal stage", () => {
  const folder = join(assembly, "regions");
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8"));
  const { artifacts } = read("manifest.json");
  const accountOf = (name: string) =>
    artifacts[stackName(name)].dependencies.find((id: string) => id.startsWith(accountStackName)) ?? "";
  const regionOf = (stack: string) => artifacts[stack].environment.split("/").at(-1);

  it("are deployed where they say, each with an account stack in its region", () => {
    const expected = deployedStages.map(({ region = "unknown-region" }, n) => (n ? `xx-place-${n}` : region));
    expect(deployedStages.map(({ name }) => regionOf(stackName(name)))).toEqual(expected);
    expect(deployedStages.map(({ name }) => regionOf(accountOf(name)))).toEqual(expected);
    for (const { name } of deployedStages) {
      const { output } = readResources(folder, accountOf(name));
      const named = deployedStages.filter((other) => output(`${pascalCase(other.name)}DeployRoleArn`));
      expect(named.map((other) => other.name)).toEqual([name]);
    }
  });

  it("share one OIDC provider, which all their roles trust, and one budget, in the first region", () => {
    for (const [n, { name }] of deployedStages.entries()) {
      const { find } = readResources(folder, accountOf(name));
      const found = ["IAM::OIDCProvider", "Budgets::Budget"].map((type) => find(type).length);
      expect(found).toEqual(n ? [0, 0] : [1, 1]);
      const trusted = find("IAM::Role").flatMap(
        ({ AssumeRolePolicyDocument: { Statement } }) => Statement[0].Principal.Federated ?? [],
      );
      const provider = n
        ? /:oidc-provider\/token\.actions\.githubusercontent\.com$/
        : find("IAM::OIDCProvider")[0]?.id;
      expect(trusted).toEqual([n ? expect.stringMatching(provider) : provider]);
    }
  });

  it("satisfy the rules of AWS Solutions", () => {
    expect(read("validation-report.json").pluginReports[0].violations).toEqual([]);
  });

  it("give the personal stage the template of staging, and no role for GitHub", () => {
    const hashes = /[0-9a-f]{32}|[0-9A-F]{8}/g; // in ids; the longer one first, because it can contain the other
    const [own, staging] = ["anna", deployedStages[0]?.name ?? ""].map((name) =>
      JSON.stringify(read(`${stackName(name)}.template.json`))
        .replaceAll(hashes, "")
        .replaceAll(name, "<name>"),
    );
    expect(own).toBe(staging);
    expect(JSON.stringify(artifacts)).not.toContain("AnnaDeploy");
  });

  // Versions cost nothing. They go with their function.
  it("leave nothing behind that costs when the personal stage is destroyed", () => {
    const resources = Object.values<Json>(read(`${stackName("anna")}.template.json`).Resources);
    const kept = resources.filter(({ DeletionPolicy = "Delete" }) => DeletionPolicy !== "Delete");
    expect(kept.filter(({ Type }) => Type !== "AWS::Lambda::Version")).toEqual([]);
  });
});
