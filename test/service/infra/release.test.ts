import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it, jest } from "@jest/globals";
import { functionFile } from "../../../infra/bundle/options.ts";
import { stackName, stages } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { ApiError } from "../../../lib/errors.ts";
import { operations } from "../../../lib/operations.ts";
import type { Json } from "../../../local/assembly/intrinsics.ts";
import { authorizerEvent, context, exampleEvent } from "../../support/event.ts";
import { readResources } from "../../support/resources.ts";

/**
 * Follows what a new version does to the decision to roll it back: its calls and log lines become metrics, the alarms of
 * its release compare them, and CodeDeploy reads the alarms.
 */
const CANARY = /^CodeDeployDefault\.LambdaCanary(\d+)Percent(\d+)Minutes$/;
const functions = [...operations.map(({ id }) => id), "authorize"];
const events = new Map<string, object>([
  ...operations.map((operation) => [operation.id, exampleEvent(operation, "1")] as const),
  ["authorize", authorizerEvent(`Bearer ${generateApiKey("staging")}`)],
]);

const sends = [DynamoDBClient, DynamoDBDocumentClient].map(({ prototype }) => jest.spyOn(prototype, "send"));
const log = jest.spyOn(console, "error").mockImplementation(() => undefined);

describe.each(stages.filter(({ canary }) => canary))("in $name", ({ name: stage }) => {
  const { find, fn } = readResources(process.env.TEST_ASSEMBLY, stackName(stage));

  /** The alias of a function, with the group that releases it and the group's alarms. */
  function releaseOf(name: string) {
    const [alias] = find("Lambda::Alias").filter(({ Properties }) => Properties.FunctionName === fn(name).id);
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

  /** Calls a version of a function while DynamoDB fails. */
  async function call(name: string, version: string, failure: Error): Promise<Outcome> {
    process.env.AWS_LAMBDA_FUNCTION_VERSION = version;
    for (const send of sends) send.mockRejectedValue(failure as never);
    const { handler, warmedUp } = await import(`../../../functions/${functionFile(name)}.ts`);
    await warmedUp;
    log.mockClear();
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
    const lines = log.mock.calls.map(([message]) => ({ level: "ERROR", requestId: "1", message }));
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

  /** The metrics of a minute, by their names and dimensions, with the statistics that they have. */
  type Metrics = Map<string, Record<string, number>>;
  const metricKey = (namespace: string, name: string, dimensions: Record<string, string>) =>
    JSON.stringify([namespace, name, Object.entries(dimensions).sort()]);

  /** Returns the metrics of a minute in which all calls of a version have the same outcome. */
  function metricsOf(
    name: string,
    version: string,
    calls: number,
    { errors, durationMs, lines }: Outcome,
  ): Metrics {
    const { id, LoggingConfig } = fn(name);
    const metrics: Metrics = new Map();
    // Lambda guide, "Metrics and dimensions": what it measures while an alias splits its calls.
    const alias = `${id}:${releaseOf(name).alias?.Properties.Name}`;
    const dimensions = { FunctionName: id, Resource: alias, ExecutedVersion: version };
    metrics.set(metricKey("AWS/Lambda", "Invocations", dimensions), { Sum: calls });
    metrics.set(metricKey("AWS/Lambda", "Errors", dimensions), { Sum: calls * errors });
    metrics.set(metricKey("AWS/Lambda", "Duration", dimensions), { p99: durationMs });
    for (const { Properties } of find("Logs::MetricFilter")) {
      if (Properties.LogGroupName !== LoggingConfig.LogGroup) continue;
      for (const line of lines.filter((one) => matches(Properties.FilterPattern, one))) {
        for (const counted of Properties.MetricTransformations) {
          const values = counted.Dimensions.map(({ Key, Value }: Json) => [Key, select(Value, line)]);
          const key = metricKey(counted.MetricNamespace, counted.MetricName, Object.fromEntries(values));
          metrics.set(key, { Sum: (metrics.get(key)?.Sum ?? 0) + calls * Number(counted.MetricValue) });
        }
      }
    }
    return metrics;
  }

  /** The value of a metric in a minute; undefined without data. */
  function measured(
    { Namespace, MetricName, Dimensions }: Json,
    statistic: string,
    period: number,
    metrics: Metrics,
  ) {
    expect(period).toBe(60);
    const dimensions = Object.fromEntries(Dimensions.map(({ Name, Value }: Json) => [Name, Value]));
    return metrics.get(metricKey(Namespace, MetricName, dimensions))?.[statistic];
  }

  /** Whether an alarm goes off in a minute; missing data is no reason, as alarms.test.ts checks. */
  function goesOff(alarm: Json, metrics: Metrics): boolean {
    if (!alarm.Metrics) {
      const value = measured(alarm, alarm.Statistic ?? alarm.ExtendedStatistic, alarm.Period, metrics);
      return value !== undefined && value > alarm.Threshold;
    }
    const [expression, ...stats] = alarm.Metrics.toSorted((a: Json) => (a.Expression ? -1 : 1));
    expect(expression).toMatchObject({ Expression: "100 * failed / calls", ReturnData: true });
    const { failed, calls } = Object.fromEntries(
      stats.map(({ Id, MetricStat }: Json) => [
        Id,
        measured(MetricStat.Metric, MetricStat.Stat, MetricStat.Period, metrics),
      ]),
    );
    return (100 * failed) / calls > alarm.Threshold; // NaN without data
  }

  /** Whether CodeDeploy restores the old version: it watches an alarm that goes off. */
  function isRolledBack(name: string, metrics: Metrics): boolean {
    const { group, alarms } = releaseOf(name);
    const { AlarmConfiguration, AutoRollbackConfiguration } = group?.Properties ?? {};
    return (
      AlarmConfiguration.Enabled &&
      AutoRollbackConfiguration.Enabled &&
      AutoRollbackConfiguration.Events.includes("DEPLOYMENT_STOP_ON_ALARM") &&
      alarms.some(({ Properties }) => goesOff(Properties, metrics))
    );
  }

  /**
   * The calls of the new version in a minute in which each function is called so often a second. `npm run traffic` calls each
   * one once, in each deployment of the workflow.
   */
  const callsOf = (name: string, rate: number) => rate * 60 * releaseOf(name).share;
  const newVersion = (name: string): string => releaseOf(name).alias?.Properties.FunctionVersion;

  const failures = [
    ["500", new TypeError("a defect")],
    ["503", new ApiError("unavailable")],
  ] as const;

  describe.each([1, 100, 1000])("at %d calls a second", (rate) => {
    describe.each(functions)("%s", (name) => {
      const calls = callsOf(name, rate);
      const inMinute = (outcome: Outcome, version = newVersion(name)) =>
        metricsOf(name, version, Math.max(1, calls), outcome);

      it.each(failures)(
        "is rolled back in the canary if all its calls fail, as with a %s",
        async (status, failure) => {
          // On average at least one call reaches the new version before the alarms have to go off.
          expect(calls * releaseOf(name).minutes).toBeGreaterThanOrEqual(1);
          const outcome = await call(name, newVersion(name), failure);
          // The authorizer throws, and an operation responds.
          if (name === "authorize") expect(outcome.errors).toBe(1);
          else expect(outcome).toMatchObject({ errors: 0, lines: [{ message: { status: Number(status) } }] });
          expect(isRolledBack(name, inMinute(outcome))).toBe(true);
          // A failing old version does not stop its repair, and no other function that has a version of this number.
          const old = await call(name, "41", failure);
          expect(isRolledBack(name, inMinute(old, "41"))).toBe(false);
          for (const other of functions.filter((one) => one !== name)) {
            const failed = await call(other, newVersion(name), failure);
            const ofBoth = [...inMinute(healthy), ...metricsOf(other, newVersion(name), calls, failed)];
            expect(isRolledBack(name, new Map(ofBoth))).toBe(false);
          }
        },
      );

      it("is rolled back if it crashes or is slow, and not if it is healthy", () => {
        const outcomes = [crashed, slow, healthy].map((outcome) => isRolledBack(name, inMinute(outcome)));
        expect(outcomes).toEqual([true, true, false]);
      });
    });
  });

  describe.each(functions)("the release of %s", (name) => {
    const { alias, update, group, alarms } = releaseOf(name);

    it("shifts 10 % of the calls for 5 minutes, and is rolled back when an alarm is triggered", () => {
      expect(group?.Properties.DeploymentConfigName).toBe("CodeDeployDefault.LambdaCanary10Percent5Minutes");
      expect(group?.Properties.AlarmConfiguration.Enabled).toBe(true);
      expect(group?.Properties.AutoRollbackConfiguration).toEqual({
        Enabled: true,
        Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"],
      });
    });

    it("updates the alias that API Gateway calls, and only after the group has the new alarms", () => {
      expect(update?.ApplicationName).toBe(group?.Properties.ApplicationName);
      expect(alias?.DependsOn).toContain(group?.id);
      const uris = [...find("ApiGateway::Authorizer"), ...find("ApiGateway::Method")].map(
        ({ Properties }) => Properties.AuthorizerUri ?? Properties.Integration.Uri,
      );
      expect(uris.filter((uri) => uri?.endsWith(`/functions/${alias?.id}/invocations`))).toHaveLength(1);
    });

    it("has new alarms, because their names contain the version: no earlier release has set them off", () => {
      expect(newVersion(name)).toContain("CurrentVersion");
      const names = alarms.map(({ Properties }) => Properties.AlarmName);
      expect(new Set(names).size).toBe(names.length);
      for (const one of names)
        expect(one).toContain(`${stackName(stage)}-${name}-version-${newVersion(name)}`);
    });

    it("has alarms for crashes and slowness, and for 5xx responses if it returns any", () => {
      const thresholds = alarms.map(({ Properties }) => [
        Properties.MetricName ?? "5xx share",
        Properties.Threshold,
      ]);
      expect(Object.fromEntries(thresholds)).toEqual({
        Duration: 2000, // ms
        Errors: 0,
        ...(name !== "authorize" && { "5xx share": 5 }), // per cent
      });
    });
  });

  it("keeps old versions, so that the alias can be pointed back, but none whose release is rolled back", () => {
    const versions = find("Lambda::Version");
    expect(versions).toHaveLength(operations.length + 1); // and the authorizer
    // With Retain, the same code could not be published again: CloudFormation fails on a version that exists.
    for (const version of versions)
      expect(version).toMatchObject({
        DeletionPolicy: "RetainExceptOnCreate",
        UpdateReplacePolicy: "Retain",
      });
  });
});
