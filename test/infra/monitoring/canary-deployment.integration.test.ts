import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it, jest } from "@jest/globals";
import { entryName, stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { ApiError } from "../../../lib/errors.ts";
import { operations } from "../../../lib/operations.ts";
import { countedFrom, metricsOf } from "../../support/cloudwatch.ts";
import { authorizerEvent, context, exampleEvent } from "../../support/event.ts";
import type { Json } from "../../support/json.ts";
import { arnOf, functionNames, readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

// Follows a failure of a new version to the alarms that roll it back: a call throws, or it logs a line, which a metric filter
// counts. alarm-definitions.test.ts has how many failures trigger an alarm.

const sends = [DynamoDBClient, DynamoDBDocumentClient].map(({ prototype }) => jest.spyOn(prototype, "send"));
jest.spyOn(Date, "now").mockReturnValue(Date.UTC(2020)); // before every sunset
const logs = (["info", "error"] as const).map((level) =>
  jest.spyOn(console, level).mockImplementation(() => undefined),
);
const events: Record<string, object> = {
  ...Object.fromEntries(operations.map((operation) => [operation.id, exampleEvent(operation)])),
  authorize: authorizerEvent(`Bearer ${generateApiKey("staging")}`),
};

/** Names the series of a metric. */
const seriesOf = ({ Namespace, MetricName, Dimensions }: Json) =>
  JSON.stringify([Namespace, MetricName, Dimensions]);

/** Calls a version of a function while DynamoDB fails, or has no items. @returns whether it threw, and what it logged */
async function call({ name, LoggingConfig }: Json, version: string, failure?: Error) {
  process.env.AWS_LAMBDA_FUNCTION_VERSION = version;
  for (const send of sends)
    send.mockImplementation(() => (failure ? Promise.reject(failure) : Promise.resolve({})));
  const { handler, ready } = await import(`../../../functions/${entryName(name)}.ts`);
  await ready;
  for (const log of logs) log.mockClear();
  const threw = await handler(events[name], context).then(
    () => false,
    () => true,
  );
  // Lambda's JSON log format (Lambda guide, "Log formats"), without the lines below the level of the function.
  const kept = logs.slice(/DEBUG|INFO/.test(LoggingConfig.ApplicationLogLevel) ? 0 : 1);
  const lines = kept.flatMap(({ mock }) => mock.calls).map(([message]) => ({ requestId: "1", message }));
  return { threw, lines: JSON.parse(JSON.stringify(lines)) as Json[] };
}

describe.each(deployedStages.filter(({ canaryDeployment }) => canaryDeployment))("in $name", (stage) => {
  const { find, fn } = readResources(shared.assembly, stackName(stage.name));
  const filters = find("Logs::MetricFilter");
  const aliases = find("Lambda::Alias");
  const callers = [...find("ApiGateway::Authorizer"), ...find("ApiGateway::Method")].map(
    ({ AuthorizerUri, Integration }) => AuthorizerUri ?? Integration.Uri,
  );

  /** A function and its alias, with the group that deploys it and the group's alarms. */
  const deployments = functionNames.map((name) => {
    const { id, LoggingConfig, Role } = fn(name);
    const alias = aliases.find(({ FunctionName }) => FunctionName === id);
    const { DeploymentGroupName } = alias.UpdatePolicy.CodeDeployLambdaAliasUpdate;
    const group = find("CodeDeploy::DeploymentGroup").find((one) => one.id === DeploymentGroupName);
    const named = group.AlarmConfiguration.Alarms.map(({ Name }: Json) => Name);
    const alarms = find("CloudWatch::Alarm").filter((alarm) => named.includes(alarm.id));
    const version: string = alias.FunctionVersion;
    return { name, id, LoggingConfig, Role, alias, group, alarms, version };
  });
  type Deployment = (typeof deployments)[number];

  /** Whether an alarm of a deployment reads a metric that a call of a version of a function counts in. */
  async function isNoticed({ alarms }: Deployment, of: Deployment, version: string, failure?: Error) {
    const { lines } = await call(of, version, failure);
    const own = filters.filter(({ LogGroupName }) => LogGroupName === of.LoggingConfig.LogGroup);
    const read = alarms.flatMap(metricsOf).map(seriesOf);
    return lines.flatMap((line) => countedFrom(own, line)).some((metric) => read.includes(seriesOf(metric)));
  }

  describe.each(deployments)("$name", (deployment) => {
    const { name, id, alias, group, alarms, version, LoggingConfig } = deployment;

    it("has alarms for what Lambda measures of the new version only", () => {
      const dimensions = { ExecutedVersion: version, FunctionName: id, Resource: `${id}:${alias.Name}` };
      const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
      const read = alarms.flatMap(metricsOf).filter(({ Namespace }: Json) => Namespace === "AWS/Lambda");
      const measured = new Set(read.map(({ MetricName }: Json) => MetricName));
      expect(measured).toEqual(new Set(["Duration", "Errors", "Invocations"]));
      for (const metric of read) expect(metric).toMatchObject({ Dimensions, Period: 60 });
    });

    const failures = { 500: new TypeError("a defect"), 503: new ApiError("unavailable") };
    it.each(Object.entries(failures))(
      "has an alarm for a %s of the new version only",
      async (status, failure) => {
        const { threw, lines } = await call(deployment, version, failure);
        // Lambda counts that the authorizer throws. An operation responds.
        if (name === "authorize") return expect({ threw }).toEqual({ threw: true });
        expect({ threw, lines }).toMatchObject({
          threw: false,
          lines: [{ message: { status: Number(status) } }],
        });
        // A failing old version does not stop its repair, and no other function that has a version of this number.
        const noticed = [];
        for (const of of deployments)
          for (const one of [version, "41"])
            if (await isNoticed(deployment, of, one, failure)) noticed.push({ of: of.name, version: one });
        expect(noticed).toEqual([{ of: name, version }]);
      },
    );

    it("has an alias that API Gateway calls, and alarms that no earlier deployment has set off", () => {
      const { ApplicationName } = alias.UpdatePolicy.CodeDeployLambdaAliasUpdate;
      expect(group.ApplicationName).toBe(ApplicationName);
      expect(alias.DependsOn).toContain(group.id); // the group has to have the alarms of the new version
      expect(callers.filter((uri) => uri?.endsWith(`/functions/${alias.id}/invocations`))).toHaveLength(1);
      expect(version).toContain("CurrentVersion");
      const names = alarms.map(({ AlarmName }) => AlarmName);
      expect(new Set(names).size).toBe(names.length);
      for (const one of names) expect(one).toContain(`${stackName(stage.name)}-${name}-version-${version}`);
      expect(LoggingConfig.LogFormat).toBe("JSON");
    });
  });

  it("authorize has an alarm for the keys that the new version refuses", async () => {
    const [authorize] = deployments.filter(({ name }) => name === "authorize") as [Deployment];
    expect(await call(authorize, authorize.version)).toMatchObject({ threw: false });
    const noticed = { new: await isNoticed(authorize, authorize, authorize.version) };
    const old = await isNoticed(authorize, authorize, "41");
    expect({ ...noticed, old }).toEqual({ new: true, old: false });
  });

  it("deploys one function after the other", () => {
    const earlier = (id: string): string[] => {
      const { DependsOn = [] } = aliases.find((alias) => alias.id === id) ?? {};
      return [DependsOn].flat().flatMap((name) => [name, ...earlier(name)]);
    };
    const places = aliases.map(({ id }) => aliases.filter((other) => earlier(id).includes(other.id)).length);
    expect(places.sort()).toEqual([...aliases.keys()]);
  });

  // With Retain, the same code could not be published again: CloudFormation fails on a version that exists.
  it("keeps old versions and their roles for a rollback, but none of a failed deployment", () => {
    const roles = find("IAM::Role").filter(({ id }) => deployments.some(({ Role }) => Role === arnOf(id)));
    const kept = { DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" };
    const ofEach = deployments.map(() => expect.objectContaining(kept));
    expect({ versions: find("Lambda::Version"), roles }).toEqual({ versions: ofEach, roles: ofEach });
  });
});
