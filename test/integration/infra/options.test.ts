import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { deployedStages, stackName } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import { alarmState, Metrics, metricsOf } from "../../support/cloudwatch.ts";
import { arnOf, readResources } from "../../support/resources.ts";

// What the stages do not use, and what the runbook uses once. data.test.ts has -c deletionProtection=off.
const assembly = process.env.TEST_OPTIONS_ASSEMBLY ?? "";

it("deploys even if alarms are triggered with -c canaryAlarms=off, and with no other option", () => {
  for (const [folder, enabled] of [
    [join(assembly, "canaryAlarms"), false],
    [assembly, true],
  ] as const) {
    for (const { name } of deployedStages.filter(({ canaryDeployment }) => canaryDeployment)) {
      const groups = readResources(folder, stackName(name)).find("CodeDeploy::DeploymentGroup");
      expect(groups).toHaveLength(operations.length + 1); // and the authorizer
      for (const { Properties } of groups) expect(Properties.AlarmConfiguration.Enabled).toBe(enabled);
    }
  }
});

describe("a stage with every option", () => {
  const { callersOf, find, fn, only, output } = readResources(assembly, "every-option");

  it("turns the default endpoint off only in a second step after the custom domain name", () => {
    const first = readResources(assembly, "both-endpoints");
    expect(first.output("BaseUrl")).toBe(output("BaseUrl"));
    expect(first.only("ApiGateway::RestApi").DisableExecuteApiEndpoint).toBe(false);
    expect(only("ApiGateway::RestApi").DisableExecuteApiEndpoint).toBe(true);
    // The change takes effect with a new deployment of the API (API Gateway guide, "Disable the default endpoint").
    expect(first.only("ApiGateway::Deployment").id).not.toBe(only("ApiGateway::Deployment").id);
    for (const { name } of deployedStages.filter(({ domain }) => !domain)) {
      const { DisableExecuteApiEndpoint } = readResources(assembly, stackName(name)).only(
        "ApiGateway::RestApi",
      );
      expect(DisableExecuteApiEndpoint).toBe(false);
    }
  });

  it("maps the custom domain name to the stage of the API, at its version, with the same TLS policy", () => {
    const [domain, api, stage] = ["DomainName", "RestApi", "Stage"].map((type) =>
      only(`ApiGateway::${type}`),
    );
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

  it.each<[name: string, provisioned: number, reserved: number]>([
    ...operations.map(({ id }): [string, number, number] => [id, 5, 50]),
    ["authorize", 2, 20],
  ])(
    "keeps instances of %s started on the alias that callers invoke, and reserves more",
    (name, ...counts) => {
      const { id, ReservedConcurrentExecutions } = fn(name);
      const [alias, second] = find("Lambda::Alias").filter(
        ({ Properties }) => Properties.FunctionName === id,
      );
      expect(second).toBeUndefined();
      const { ProvisionedConcurrentExecutions } = alias?.Properties.ProvisionedConcurrencyConfig ?? {};
      expect([ProvisionedConcurrentExecutions, ReservedConcurrentExecutions]).toEqual(counts);
      expect(callersOf(alias?.id)).toHaveLength(1);
    },
  );

  describe("the probe", () => {
    const probe = find("Lambda::Function").find(({ Properties }) =>
      Properties.Code.ZipFile?.includes("fetch"),
    );
    const alarm = find("CloudWatch::Alarm").find(
      ({ Properties }) => Properties.TreatMissingData === "breaching",
    )?.Properties;
    const run = (respond: () => Promise<{ status: number }>) => {
      const exported = {} as { handler: () => Promise<void> };
      const fetch = (url: string) => {
        expect(url).toBe(`${output("BaseUrl")}/pets`);
        return respond();
      };
      const environment = { env: probe?.Properties.Environment.Variables };
      const program = new Function("exports", "fetch", "process", probe?.Properties.Code.ZipFile);
      program(exported, fetch, environment);
      return exported.handler();
    };

    it("fails unless the API refuses a request without a key", async () => {
      await expect(run(async () => ({ status: 401 }))).resolves.toBeUndefined();
      for (const status of [200, 403, 503]) await expect(run(async () => ({ status }))).rejects.toThrow();
      await expect(run(() => Promise.reject(new Error("certificate has expired")))).rejects.toThrow();
    });

    it("runs every minute, and notifies after three failures or when it does not run", () => {
      expect(only("Events::Rule")).toMatchObject({
        ScheduleExpression: "rate(1 minute)",
        Targets: [{ Arn: arnOf(probe?.id ?? "") }],
      });
      const [errors] = metricsOf(alarm);
      expect(errors.Dimensions).toEqual([{ Name: "FunctionName", Value: probe?.id }]);
      const after = (values: number[]) => {
        const metrics = new Metrics();
        for (const [minute, value] of values.entries()) metrics.record(minute, errors, value);
        return alarmState(alarm)(metrics, values.length);
      };
      expect([[0, 0, 0], [1, 1, 0], [1, 1, 1], []].map(after)).toEqual([false, false, true, true]);
    });
  });

  it("configures listPets with the shards to read and createPet with the shards to write", () => {
    const shards = ["listPets", "createPet"].map((name) => fn(name).Environment.Variables.STATUS_SHARDS);
    expect(shards).toEqual(["8", "4"]);
  });
});

it("trusts the OIDC provider that an account already has, and has no diff role unless wanted", () => {
  const { find, output } = readResources(assembly, "existing-provider");
  expect(find("IAM::OIDCProvider")).toEqual([]);
  const trusted = JSON.stringify(
    find("IAM::Role").map(({ Properties }) => Properties.AssumeRolePolicyDocument),
  );
  const provider = /:oidc-provider\/token\.actions\.githubusercontent\.com"/g;
  expect(trusted.match(provider)).toHaveLength(deployedStages.length);
  expect(output("DiffRoleArn")).toBeUndefined();
});
