import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it, jest } from "@jest/globals";
import type { Json } from "../../../infra/assembly/intrinsics.ts";
import { entryName } from "../../../infra/bundle/options.ts";
import { deployedStages, stackName } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { ApiError } from "../../../lib/errors.ts";
import { operations } from "../../../lib/operations.ts";
import { alarmState, countedFrom, Metrics } from "../../support/cloudwatch.ts";
import { authorizerEvent, context, exampleEvent } from "../../support/event.ts";
import { readResources } from "../../support/resources.ts";

/**
 * Follows what a new version does to the decision to roll it back: its calls and log lines become metrics, the alarms of
 * its release compare them, and CodeDeploy reads the alarms.
 */
const CANARY = /^CodeDeployDefault\.LambdaCanary(\d+)Percent(\d+)Minutes$/;
const functions = [...operations.map(({ id }) => id), "authorize"];

describe.each(deployedStages.filter(({ canaryDeployment }) => canaryDeployment))(
  "in $name",
  ({ name: stage }) => {
    const { callersOf, find, fn } = readResources(process.env.TEST_ASSEMBLY, stackName(stage));

    /** The alias of a function, with the group that deploys it and the group's alarms. */
    function deploymentOf(name: string) {
      const [alias] = find("Lambda::Alias").filter(
        ({ Properties }) => Properties.FunctionName === fn(name).id,
      );
      const update = alias?.UpdatePolicy?.CodeDeployLambdaAliasUpdate;
      const group = find("CodeDeploy::DeploymentGroup").find(({ id }) => id === update?.DeploymentGroupName);
      const named = group?.Properties.AlarmConfiguration.Alarms.map(({ Name }: Json) => Name) ?? [];
      const alarms = find("CloudWatch::Alarm").filter(({ id }) => named.includes(id));
      const own = find("CodeDeploy::DeploymentConfig")[0]?.Properties.TrafficRoutingConfig.TimeBasedCanary;
      const [, percent = own?.CanaryPercentage, minutes = own?.CanaryInterval] =
        CANARY.exec(group?.Properties.DeploymentConfigName) ?? [];
      return { alias, update, group, alarms, share: Number(percent) / 100, minutes: Number(minutes) };
    }

    /** What one call of a function does: whether it fails, for how long it runs, and the lines that it logs. */
    interface Outcome {
      errors: number;
      durationMs: number;
      lines: Json[];
    }
    const healthy: Outcome = { errors: 0, durationMs: 10, lines: [] };
    const crashed: Outcome = { ...healthy, errors: 1 };

    const sends = [DynamoDBClient, DynamoDBDocumentClient].map(({ prototype }) =>
      jest.spyOn(prototype, "send"),
    );
    const logs = (["error", "info"] as const).map((level) =>
      jest.spyOn(console, level).mockImplementation(() => undefined),
    );
    const events = new Map<string, object>([
      ...operations.map((operation) => [operation.id, exampleEvent(operation, "1")] as const),
      ["authorize", authorizerEvent(`Bearer ${generateApiKey("staging")}`)],
    ]);

    /** Calls a version of a function while DynamoDB fails, or has no items. */
    async function call(name: string, version: string, failure?: Error): Promise<Outcome> {
      process.env.AWS_LAMBDA_FUNCTION_VERSION = version;
      for (const send of sends)
        send.mockImplementation(() => (failure ? Promise.reject(failure) : Promise.resolve({})));
      const { handler, ready } = await import(`../../../functions/${entryName(name)}.ts`);
      await ready;
      for (const log of logs) log.mockClear();
      const errors = await handler(events.get(name), context).then(
        () => 0,
        () => 1,
      );
      // Lambda's JSON log format (Lambda guide, "Log formats"), which drops the lines below the level of the function.
      expect(fn(name).LoggingConfig).toMatchObject({
        LogFormat: "JSON",
        ApplicationLogLevel: expect.stringMatching(/DEBUG|INFO|WARN|ERROR/),
      });
      const lines = logs.flatMap(({ mock }) => mock.calls).map(([message]) => ({ requestId: "1", message }));
      return { errors, durationMs: 10, lines: JSON.parse(JSON.stringify(lines)) };
    }

    /** A minute in which versions are called, in minutes since 1970. */
    const MINUTE = 30_000_000;

    /** Records the metrics of a minute in which all calls of a version have the same outcome. */
    function record(
      metrics: Metrics,
      name: string,
      version: string,
      calls: number,
      { errors, durationMs, lines }: Outcome,
    ): Metrics {
      const { id, LoggingConfig } = fn(name);
      // Lambda guide, "Metrics and dimensions": what it measures while an alias splits its calls.
      const Resource = `${id}:${deploymentOf(name).alias?.Properties.Name}`;
      const dimensions = { FunctionName: id, Resource, ExecutedVersion: version };
      const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
      for (const [MetricName, value] of Object.entries({
        Invocations: 1,
        Errors: errors,
        Duration: durationMs,
      }))
        metrics.record(MINUTE, { Namespace: "AWS/Lambda", MetricName, Dimensions }, value, calls);
      const filters = find("Logs::MetricFilter")
        .map(({ Properties }) => Properties)
        .filter(({ LogGroupName }) => LogGroupName === LoggingConfig.LogGroup);
      for (const metric of lines.flatMap((line) => countedFrom(filters, line)))
        metrics.record(MINUTE, metric, 1, calls);
      return metrics;
    }

    /** Whether CodeDeploy restores the old version: it watches an alarm that goes off. */
    function isRolledBack(name: string, metrics: Metrics): boolean {
      const { group, alarms } = deploymentOf(name);
      const { AlarmConfiguration, AutoRollbackConfiguration } = group?.Properties ?? {};
      return (
        AlarmConfiguration.Enabled &&
        AutoRollbackConfiguration.Enabled &&
        AutoRollbackConfiguration.Events.includes("DEPLOYMENT_STOP_ON_ALARM") &&
        alarms.some(({ Properties }) => alarmState(Properties)(metrics, MINUTE + 1))
      );
    }

    /**
     * The calls of the new version in a minute in which each function is called so often a second. `npm run traffic` calls each
     * one once, in each deployment of the workflow.
     */
    const callsOf = (name: string, rate: number) => rate * 60 * deploymentOf(name).share;
    const newVersion = (name: string): string => deploymentOf(name).alias?.Properties.FunctionVersion;

    const failures = [
      ["500", new TypeError("a defect")],
      ["503", new ApiError("unavailable")],
    ] as const;

    describe.each([1, 100, 1000])("at %d calls a second", (rate) => {
      describe.each(functions)("%s", (name) => {
        const calls = callsOf(name, rate);
        const inMinute = (outcome: Outcome, version = newVersion(name)) =>
          record(new Metrics(), name, version, Math.max(1, calls), outcome);

        it.each(failures)(
          "is rolled back in the canary if all its calls fail, as with a %s",
          async (status, failure) => {
            // On average at least one call reaches the new version before the alarms have to go off.
            expect(calls * deploymentOf(name).minutes).toBeGreaterThanOrEqual(1);
            const outcome = await call(name, newVersion(name), failure);
            // The authorizer throws, and an operation responds.
            if (name === "authorize") expect(outcome.errors).toBe(1);
            else
              expect(outcome).toMatchObject({ errors: 0, lines: [{ message: { status: Number(status) } }] });
            expect(isRolledBack(name, inMinute(outcome))).toBe(true);
            // A failing old version does not stop its repair, and no other function that has a version of this number.
            const old = await call(name, "41", failure);
            expect(isRolledBack(name, inMinute(old, "41"))).toBe(false);
            for (const other of functions.filter((one) => one !== name)) {
              const failed = await call(other, newVersion(name), failure);
              const ofBoth = record(inMinute(healthy), other, newVersion(name), calls, failed);
              expect(isRolledBack(name, ofBoth)).toBe(false);
            }
          },
        );

        it("is rolled back if it crashes or is slow, and not if it is healthy", () => {
          const slow = { ...healthy, durationMs: fn(name).Timeout * 1000 - 1 };
          const outcomes = [crashed, slow, healthy].map((outcome) => isRolledBack(name, inMinute(outcome)));
          expect(outcomes).toEqual([true, true, false]);
        });
      });
    });

    it("a version of authorize that refuses every key is rolled back, and not for one client with an expired key", async () => {
      const version = newVersion("authorize");
      const refused = await call("authorize", version);
      expect(refused.errors).toBe(0);
      const calls = Math.floor(callsOf("authorize", 1));
      const ofNew = (count: number, outcome: Outcome, metrics = new Metrics()) =>
        record(metrics, "authorize", version, count, outcome);
      expect(isRolledBack("authorize", ofNew(calls, refused))).toBe(true);
      expect(isRolledBack("authorize", ofNew(1, refused, ofNew(calls - 1, healthy)))).toBe(false);
      expect(isRolledBack("authorize", ofNew(1, refused))).toBe(false);
    });

    it("releases one function after the other", () => {
      const aliases = find("Lambda::Alias");
      const earlier = (id: string): string[] => {
        const names = [aliases.find((alias) => alias.id === id)?.DependsOn ?? []].flat();
        return names.flatMap((name) => (name === id ? [] : [name, ...earlier(name)]));
      };
      const places = aliases.map(
        ({ id }) => aliases.filter((other) => earlier(id).includes(other.id)).length,
      );
      expect(places.sort()).toEqual([...aliases.keys()]);
    });

    it.each(functions)("%s: the group deploys the alias that API Gateway calls, with new alarms", (name) => {
      const { alias, update, group, alarms } = deploymentOf(name);
      expect(update?.ApplicationName).toBe(group?.Properties.ApplicationName);
      expect(alias?.DependsOn).toContain(group?.id); // the group has to have the alarms of the new version
      expect(callersOf(alias?.id)).toHaveLength(1);
      // No earlier deployment has set an alarm off if its name contains the version.
      const names = alarms.map(({ Properties }) => Properties.AlarmName);
      expect(newVersion(name)).toContain("CurrentVersion");
      expect(new Set(names).size).toBe(names.length);
      for (const one of names)
        expect(one).toContain(`${stackName(stage)}-${name}-version-${newVersion(name)}`);
    });

    it("keeps old versions, so that the alias can be pointed back, but none whose deployment is rolled back", () => {
      const versions = find("Lambda::Version");
      expect(versions).toHaveLength(functions.length);
      // With Retain, the same code could not be published again: CloudFormation fails on a version that exists.
      const kept = { DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" };
      for (const version of versions) expect(version).toMatchObject(kept);
    });
  },
);
