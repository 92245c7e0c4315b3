import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it, jest } from "@jest/globals";
import { entryName, stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { ApiError } from "../../../lib/errors.ts";
import { operations } from "../../../lib/operations.ts";
import { alarmState, countedFrom, Metrics } from "../../support/cloudwatch.ts";
import { authorizerEvent, context, exampleEvent } from "../../support/event.ts";
import type { Json } from "../../support/json.ts";
import { arnOf, functionNames, readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

/**
 * Follows what a new version does to the decision to roll it back: its calls and log lines become metrics, the alarms of
 * its deployment compare them, and CodeDeploy reads the alarms.
 */
const CANARY = /^CodeDeployDefault\.LambdaCanary(\d+)Percent(\d+)Minutes$/;
/** A minute in which versions are called, in minutes since 1970. */
const MINUTE = 30_000_000;

/** What one call of a function does: whether it fails, for how long it runs, and the lines that it logs. */
interface Outcome {
  errors: number;
  durationMs: number;
  lines: Json[];
}
const healthy: Outcome = { errors: 0, durationMs: 10, lines: [] };

const sends = [DynamoDBClient, DynamoDBDocumentClient].map(({ prototype }) => jest.spyOn(prototype, "send"));
const logs = (["info", "error"] as const).map((level) =>
  jest.spyOn(console, level).mockImplementation(() => undefined),
);
const events: Record<string, object> = {
  ...Object.fromEntries(operations.map((operation) => [operation.id, exampleEvent(operation, "1")])),
  authorize: authorizerEvent(`Bearer ${generateApiKey("staging")}`),
};

/** Calls a version of a function while DynamoDB fails, or has no items. */
async function call({ name, LoggingConfig }: Json, version: string, failure?: Error): Promise<Outcome> {
  process.env.AWS_LAMBDA_FUNCTION_VERSION = version;
  for (const send of sends)
    send.mockImplementation(() => (failure ? Promise.reject(failure) : Promise.resolve({})));
  const { handler, ready } = await import(`../../../functions/${entryName(name)}.ts`);
  await ready;
  for (const log of logs) log.mockClear();
  const errors = await handler(events[name], context).then(
    () => 0,
    () => 1,
  );
  // Lambda's JSON log format (Lambda guide, "Log formats"), without the lines below the level of the function.
  const kept = logs.slice(/DEBUG|INFO/.test(LoggingConfig.ApplicationLogLevel) ? 0 : 1);
  const lines = kept.flatMap(({ mock }) => mock.calls).map(([message]) => ({ requestId: "1", message }));
  return { ...healthy, errors, lines: JSON.parse(JSON.stringify(lines)) };
}

describe.each(deployedStages.filter(({ canaryDeployment }) => canaryDeployment))("in $name", (stage) => {
  const { callersOf, find, fn } = readResources(shared.assembly, stackName(stage.name));
  const filters = find("Logs::MetricFilter");
  const aliases = find("Lambda::Alias");

  /** A function and its alias, with the group that deploys it and the group's alarms. */
  const deployments = functionNames.map((name) => {
    const { id, LoggingConfig, Role, Timeout } = fn(name);
    const alias = aliases.find(({ FunctionName }) => FunctionName === id);
    const { DeploymentGroupName } = alias.UpdatePolicy.CodeDeployLambdaAliasUpdate;
    const group = find("CodeDeploy::DeploymentGroup").find((one) => one.id === DeploymentGroupName);
    const named = group.AlarmConfiguration.Alarms.map(({ Name }: Json) => Name);
    const alarms = find("CloudWatch::Alarm").filter((alarm) => named.includes(alarm.id));
    const own = find("CodeDeploy::DeploymentConfig")[0]?.TrafficRoutingConfig.TimeBasedCanary;
    const [, percent = own?.CanaryPercentage, minutes = own?.CanaryInterval] =
      CANARY.exec(group.DeploymentConfigName) ?? [];
    // The calls of the new version in a minute, if the function is called so often a second.
    const callsAt = (rate: number) => (rate * 60 * Number(percent)) / 100;
    const version: string = alias.FunctionVersion;
    return { name, id, LoggingConfig, Role, Timeout, alias, group, alarms, minutes, callsAt, version };
  });
  type Deployment = (typeof deployments)[number];

  /** Whether CodeDeploy restores the old version of a function after a minute with calls of versions of functions. */
  function isRolledBack(
    { group, alarms }: Deployment,
    ...minute: [of: Deployment, version: string, calls: number, outcome: Outcome][]
  ): boolean {
    const metrics = new Metrics();
    for (const [{ id, alias, LoggingConfig }, version, calls, { errors, durationMs, lines }] of minute) {
      // Lambda guide, "Metrics and dimensions": what it measures while an alias splits its calls.
      const dimensions = { FunctionName: id, Resource: `${id}:${alias.Name}`, ExecutedVersion: version };
      const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
      const measured = { Invocations: 1, Errors: errors, Duration: durationMs };
      for (const [MetricName, value] of Object.entries(measured))
        metrics.record(MINUTE, { Namespace: "AWS/Lambda", MetricName, Dimensions }, value, calls);
      const own = filters.filter(({ LogGroupName }) => LogGroupName === LoggingConfig.LogGroup);
      for (const metric of lines.flatMap((line) => countedFrom(own, line)))
        metrics.record(MINUTE, metric, 1, calls);
    }
    const { AlarmConfiguration, AutoRollbackConfiguration } = group;
    return (
      AlarmConfiguration.Enabled &&
      AutoRollbackConfiguration.Enabled &&
      AutoRollbackConfiguration.Events.includes("DEPLOYMENT_STOP_ON_ALARM") &&
      alarms.some((alarm) => alarmState(alarm)(metrics, MINUTE + 1))
    );
  }

  describe.each(deployments)("$name", (deployment) => {
    const { name, alias, group, alarms, minutes, callsAt, version, LoggingConfig, Timeout } = deployment;

    it.each([
      [500, new TypeError("a defect")],
      [503, new ApiError("unavailable")],
    ])(
      "is rolled back in the canary if its only call or all its calls fail, as with a %d",
      async (status, failure) => {
        const [failed, old] = [
          await call(deployment, version, failure),
          await call(deployment, "41", failure),
        ];
        // The authorizer throws, and an operation responds.
        if (name === "authorize") expect(failed.errors).toBe(1);
        else expect(failed).toMatchObject({ errors: 0, lines: [{ message: { status } }] });
        for (const calls of [1, ...[1, 1000].map(callsAt)]) {
          // On average at least one call reaches the new version before the alarms have to go off.
          expect(calls * Number(minutes)).toBeGreaterThanOrEqual(1);
          expect(isRolledBack(deployment, [deployment, version, calls, failed])).toBe(true);
          // A failing old version does not stop its repair, and no other function that has a version of this number.
          expect(isRolledBack(deployment, [deployment, "41", calls, old])).toBe(false);
          for (const other of deployments.filter((one) => one !== deployment)) {
            const own = [deployment, version, calls, healthy] as const;
            const theirs = [other, version, calls, await call(other, version, failure)] as const;
            expect(isRolledBack(deployment, [...own], [...theirs])).toBe(false);
          }
        }
      },
    );

    it("is rolled back if it crashes or is slow, and not if it is healthy", () => {
      const [crashed, slow] = [
        { ...healthy, errors: 1 },
        { ...healthy, durationMs: Timeout * 1000 - 1 },
      ];
      for (const calls of [1, ...[1, 1000].map(callsAt)]) {
        const isStopped = (outcome: Outcome) =>
          isRolledBack(deployment, [deployment, version, calls, outcome]);
        expect([crashed, slow, healthy].map(isStopped)).toEqual([true, true, false]);
      }
    });

    it("has an alias that API Gateway calls, and alarms that no earlier deployment has set off", () => {
      const { ApplicationName } = alias.UpdatePolicy.CodeDeployLambdaAliasUpdate;
      expect(group.ApplicationName).toBe(ApplicationName);
      expect(alias.DependsOn).toContain(group.id); // the group has to have the alarms of the new version
      expect(callersOf(alias.id)).toHaveLength(1);
      expect(version).toContain("CurrentVersion");
      const names = alarms.map(({ AlarmName }) => AlarmName);
      expect(new Set(names).size).toBe(names.length);
      for (const one of names) expect(one).toContain(`${stackName(stage.name)}-${name}-version-${version}`);
      expect(LoggingConfig.LogFormat).toBe("JSON");
    });
  });

  it("a version of authorize that refuses every key is rolled back, and not for clients with expired keys, or who guess keys", async () => {
    const authorize = deployments.find(({ name }) => name === "authorize") as Deployment;
    const { version, callsAt } = authorize;
    const refused = await call(authorize, version);
    expect(refused.errors).toBe(0);
    const isRefused = (refusals: number, others = 0) =>
      isRolledBack(authorize, [authorize, version, refusals, refused], [authorize, version, others, healthy]);
    const calls = callsAt(1);
    expect([isRefused(calls), isRefused(1, calls - 1), isRefused(1)]).toEqual([true, false, false]);
    // One address guesses as fast as AWS WAF lets it, and only `npm run traffic` sends a valid key, once a second.
    const guesses = callsAt((stage.wafRateLimits?.perIpPerMinute ?? 0) / 60);
    expect(isRefused(guesses, calls)).toBe(false);
  });

  it("deploys one function after the other", () => {
    const earlier = (id: string): string[] => {
      const { DependsOn = [] } = aliases.find((alias) => alias.id === id) ?? {};
      return [DependsOn].flat().flatMap((name) => [name, ...earlier(name)]);
    };
    const places = aliases.map(({ id }) => aliases.filter((other) => earlier(id).includes(other.id)).length);
    expect(places.sort()).toEqual([...aliases.keys()]);
  });

  it("keeps old versions and their roles, so that the alias can be pointed back, but none whose deployment is rolled back", () => {
    const versions = find("Lambda::Version");
    const roles = find("IAM::Role").filter(({ id }) => deployments.some(({ Role }) => Role === arnOf(id)));
    expect([versions.length, roles.length]).toEqual([deployments.length, deployments.length]);
    // With Retain, the same code could not be published again: CloudFormation fails on a version that exists.
    const kept = { DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" };
    for (const one of [...versions, ...roles]) expect(one).toMatchObject(kept);
  });
});
