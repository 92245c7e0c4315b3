import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it, jest } from "@jest/globals";
import type { Json } from "../../../infra/assembly/intrinsics.ts";
import { entryName } from "../../../infra/bundle/options.ts";
import { deployedStages, stackName } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { ApiError } from "../../../lib/errors.ts";
import { operations } from "../../../lib/operations.ts";
import { alarmState, Metrics } from "../../support/cloudwatch.ts";
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
    const { find, fn } = readResources(process.env.TEST_ASSEMBLY, stackName(stage));

    /** The alias of a function, with the group that deploys it and the group's alarms. */
    function deploymentOf(name: string) {
      const [alias] = find("Lambda::Alias").filter(
        ({ Properties }) => Properties.FunctionName === fn(name).id,
      );
      const update = alias?.UpdatePolicy?.CodeDeployLambdaAliasUpdate;
      const group = find("CodeDeploy::DeploymentGroup").find(({ id }) => id === update?.DeploymentGroupName);
      const named = group?.Properties.AlarmConfiguration.Alarms.map(({ Name }: Json) => Name) ?? [];
      const alarms = find("CloudWatch::Alarm").filter(({ id }) => named.includes(id));
      const [, percent, minutes] = CANARY.exec(group?.Properties.DeploymentConfigName) ?? [];
      return { alias, update, group, alarms, share: Number(percent) / 100, minutes: Number(minutes) };
    }

    /** What one call of a function does: whether it fails, for how long it runs, and the lines that it logs. */
    interface Outcome {
      errors: number;
      durationMs: number;
      lines: Json[];
    }
    const healthy: Outcome = { errors: 0, durationMs: 300, lines: [] };
    const slow: Outcome = { errors: 0, durationMs: 3000, lines: [] };
    const crashed: Outcome = { errors: 1, durationMs: 10, lines: [] };

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
      const { LogFormat, ApplicationLogLevel } = fn(name).LoggingConfig;
      expect([LogFormat, ["DEBUG", "INFO", "WARN", "ERROR"].includes(ApplicationLogLevel)]).toEqual([
        "JSON",
        true,
      ]);
      const lines = logs.flatMap(({ mock }) => mock.calls).map(([message]) => ({ requestId: "1", message }));
      return { errors, durationMs: 10, lines: JSON.parse(JSON.stringify(lines)) };
    }

    /** The member of a log line that a selector such as `$.message.status` names. */
    const select = (selector: string, line: Json): Json =>
      selector
        .split(".")
        .slice(1)
        .reduce((value, member) => value?.[member], line);

    /** Whether a log line matches a filter pattern that compares one number (CloudWatch Logs guide, "Filter pattern syntax"). */
    function matches(pattern: string, line: Json): boolean {
      const [, selector, operator, number] = /^\{ (\$[\w.]+) (>=?) (\d+) \}$/.exec(pattern) ?? [];
      if (selector === undefined) throw new Error(`This test cannot evaluate ${pattern}.`);
      const value = select(selector, line);
      return operator === ">" ? value > Number(number) : value >= Number(number);
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
      const dimensions = {
        FunctionName: id,
        Resource: `${id}:${deploymentOf(name).alias?.Properties.Name}`,
        ExecutedVersion: version,
      };
      const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
      for (const [MetricName, value] of Object.entries({
        Invocations: 1,
        Errors: errors,
        Duration: durationMs,
      }))
        metrics.record(MINUTE, { Namespace: "AWS/Lambda", MetricName, Dimensions }, value, calls);
      for (const { Properties } of find("Logs::MetricFilter")) {
        if (Properties.LogGroupName !== LoggingConfig.LogGroup) continue;
        for (const line of lines.filter((one) => matches(Properties.FilterPattern, one)))
          for (const {
            MetricNamespace,
            MetricName,
            MetricValue,
            ...counted
          } of Properties.MetricTransformations) {
            const Dimensions = counted.Dimensions.map(({ Key, Value }: Json) => ({
              Name: Key,
              Value: select(Value, line),
            }));
            metrics.record(
              MINUTE,
              { Namespace: MetricNamespace, MetricName, Dimensions },
              Number(MetricValue),
              calls,
            );
          }
      }
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
      const follows = (id: string, other: string): boolean =>
        aliases.some(
          (alias) =>
            alias.id === id &&
            [alias.DependsOn].flat().some((first) => first === other || follows(first, other)),
        );
      for (const { id } of aliases)
        for (const other of aliases)
          if (id !== other.id) expect(follows(id, other.id)).not.toBe(follows(other.id, id));
    });

    describe.each(functions)("the canary deployment of %s", (name) => {
      const { alias, update, group, alarms } = deploymentOf(name);

      it("updates the alias that API Gateway calls, and only after the group has the new alarms", () => {
        expect(update?.ApplicationName).toBe(group?.Properties.ApplicationName);
        expect(alias?.DependsOn).toContain(group?.id);
        const uris = [...find("ApiGateway::Authorizer"), ...find("ApiGateway::Method")].map(
          ({ Properties }) => Properties.AuthorizerUri ?? Properties.Integration.Uri,
        );
        expect(uris.filter((uri) => uri?.endsWith(`/functions/${alias?.id}/invocations`))).toHaveLength(1);
      });

      it("has new alarms, because their names contain the version: no earlier deployment has set them off", () => {
        expect(newVersion(name)).toContain("CurrentVersion");
        const names = alarms.map(({ Properties }) => Properties.AlarmName);
        expect(new Set(names).size).toBe(names.length);
        for (const one of names)
          expect(one).toContain(`${stackName(stage)}-${name}-version-${newVersion(name)}`);
      });
    });

    it("keeps old versions, so that the alias can be pointed back, but none whose deployment is rolled back", () => {
      const versions = find("Lambda::Version");
      expect(versions).toHaveLength(operations.length + 1); // and the authorizer
      // With Retain, the same code could not be published again: CloudFormation fails on a version that exists.
      for (const version of versions)
        expect(version).toMatchObject({
          DeletionPolicy: "RetainExceptOnCreate",
          UpdateReplacePolicy: "Retain",
        });
    });
  },
);
