import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { Template } from "aws-cdk-lib/assertions";
import { stackName } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import { readTemplate } from "../../support/normalize.ts";
import { KEYS, SHARES } from "../../support/traffic.ts";

// Computes from the template when a release is rolled back.

const CANARY = /^CodeDeployDefault\.LambdaCanary(\d+)Percent(\d+)Minutes$/;

const template = Template.fromJSON(readTemplate(process.env.TEST_ASSEMBLY ?? "", stackName("production")));

// biome-ignore lint/suspicious/noExplicitAny: templates are untyped JSON
const entries = (type: string): [string, any][] => Object.entries(template.findResources(type));

/** The release of a function, with its alarms. */
function releaseOf(name: string) {
  const [, { Properties: group }] =
    entries("AWS::CodeDeploy::DeploymentGroup").find(([id]) =>
      id.toLowerCase().startsWith(name.toLowerCase()),
    ) ?? [];
  const alarms = group.AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => {
    const [, { Properties }] = entries("AWS::CloudWatch::Alarm").find(([id]) => id === Name.Ref) ?? ["", {}];
    return Properties;
  });
  const [, percent, minutes] = CANARY.exec(group.DeploymentConfigName) ?? [];
  return { group, alarms, share: Number(percent) / 100, minutes: Number(minutes) };
}

/** The metric that an alarm compares, computed from what the new version did in one minute. */
function value(alarm: Record<string, unknown>, minute: Record<string, number>): number | undefined {
  const stats = (alarm.Metrics ?? []) as {
    Id: string;
    Expression?: string;
    MetricStat?: { Period: number };
  }[];
  if (stats.length === 0) return minute[String(alarm.MetricName)];
  expect(stats.map(({ Expression }) => Expression).filter(Boolean)).toEqual(["100 * failed / calls"]);
  expect(new Set(stats.flatMap(({ MetricStat }) => MetricStat?.Period ?? []))).toEqual(new Set([60]));
  return minute.calls ? (100 * (minute.failed ?? 0)) / minute.calls : undefined;
}

/** Whether an alarm goes off in a minute; missing data is no reason. */
function goesOff(alarm: Record<string, unknown>, minute: Record<string, number>): boolean {
  expect(alarm).toMatchObject({
    ComparisonOperator: "GreaterThanThreshold",
    EvaluationPeriods: 1,
    TreatMissingData: "notBreaching",
  });
  const measured = value(alarm, minute);
  return measured !== undefined && measured > Number(alarm.Threshold);
}

describe.each([1, 100, 1000])("at %d requests a second", (rate) => {
  it.each(Object.entries(SHARES))(
    "a %s that fails all its calls is rolled back in the canary",
    (name, share) => {
      const { alarms, share: canary, minutes } = releaseOf(name);
      const calls = rate * share * 60 * canary;
      // On average at least one call reaches the new version before the alarms have to go off.
      expect(calls * minutes).toBeGreaterThanOrEqual(1);
      const failing = { calls: Math.max(1, calls), failed: Math.max(1, calls), Errors: 0, Duration: 10 };
      expect(alarms.some((alarm: Record<string, unknown>) => goesOff(alarm, failing))).toBe(true);
    },
  );

  it.each(Object.entries(SHARES))("a healthy %s is not rolled back", (name, share) => {
    const { alarms, share: canary } = releaseOf(name);
    const healthy = { calls: Math.max(1, rate * share * 60 * canary), failed: 0, Errors: 0, Duration: 300 };
    for (const alarm of alarms) expect(goesOff(alarm, healthy)).toBe(false);
  });

  it("an authorizer that fails all its calls is rolled back in the canary", () => {
    const { alarms, share, minutes } = releaseOf("authorize");
    const calls = Math.min(rate * 60, KEYS) * share;
    expect(calls * minutes).toBeGreaterThanOrEqual(1);
    const failing = { calls: Math.max(1, calls), Errors: Math.max(1, calls), Duration: 10 };
    expect(alarms.some((alarm: Record<string, unknown>) => goesOff(alarm, failing))).toBe(true);
  });
});

it("says how often getPet has no call in the canary at one request a second", () => {
  const { share, minutes } = releaseOf("getPet");
  const percent = Math.round(100 * (1 - share) ** (SHARES.getPet * minutes * 60));
  for (const document of ["operations.md", "decisions/release-alarms.md"]) {
    const text = readFileSync(new URL(`../../../docs/${document}`, import.meta.url), "utf8");
    expect(text).toContain(`in ${percent} % of`);
  }
});

describe.each([...Object.keys(SHARES), "authorize"])("the release of %s", (name) => {
  const { group, alarms } = releaseOf(name);

  it("shifts 10 % of the calls for 5 minutes, and is rolled back when an alarm is triggered", () => {
    expect(group.DeploymentConfigName).toBe("CodeDeployDefault.LambdaCanary10Percent5Minutes");
    expect(group.AlarmConfiguration.Enabled).toBe(true);
    expect(group.AutoRollbackConfiguration).toEqual({
      Enabled: true,
      Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"],
    });
  });

  it("measures the new version only, so that a failing old version does not stop its repair", () => {
    const version = { "Fn::GetAtt": [expect.stringMatching(/CurrentVersion/), "Version"] };
    for (const alarm of alarms) {
      const dimensions: { Name: string; Value: unknown }[][] = alarm.Dimensions
        ? [alarm.Dimensions]
        : alarm.Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: { Dimensions: [] } } }) =>
            MetricStat ? [MetricStat.Metric.Dimensions] : [],
          );
      for (const metric of dimensions) {
        expect(metric.find(({ Name }) => /version/i.test(Name))?.Value).toEqual(version);
      }
      // A new name makes a new alarm, which no earlier release has set off.
      expect(JSON.stringify(alarm.AlarmName)).toContain("CurrentVersion");
    }
  });

  it("has alarms for crashes and slowness, and for 5xx responses if it returns any", () => {
    const metrics = alarms.map(({ MetricName }: { MetricName?: string }) => MetricName ?? "5xx share");
    expect(metrics.sort()).toEqual(["5xx share", "Duration", "Errors"].slice(name === "authorize" ? 1 : 0));
  });
});

it("keeps old versions, so that the alias can be pointed back, but none whose release is rolled back", () => {
  const versions = entries("AWS::Lambda::Version");
  expect(versions).toHaveLength(operations.length + 1); // and the authorizer
  // With Retain, the same code could not be published again: CloudFormation fails on a version that exists.
  for (const [, version] of versions)
    expect(version).toMatchObject({ DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" });
});
