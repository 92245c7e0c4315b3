import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import type { Json } from "../../../infra/assembly/intrinsics.ts";
import { pascalCase } from "../../../infra/pascal-case.ts";
import { deployedStages, stackName } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import { alarmState, Metrics, metricsOf, periodOf } from "../../support/cloudwatch.ts";
import { allows } from "../../support/iam.ts";
import { arnOf, readResources } from "../../support/resources.ts";

// What notifies people, and who can. canary-deployment.test.ts has the alarms of a canary deployment.

/** Minutes. */
const DAY = 1440;
/** When the scenarios begin, in minutes since 1970. */
const START = Date.UTC(2027, 0, 1) / 60_000;
const functions = [...operations.map(({ id }) => id), "authorize"];

describe.each(deployedStages)("in $name", ({ name: stage, probe = false }) => {
  const { find, fn, only, output } = readResources(process.env.TEST_ASSEMBLY, stackName(stage));
  const alarms = find("CloudWatch::Alarm").map(({ Properties }) => Properties);
  const topic = only("SNS::Topic");

  const ofRelease = ({ AlarmName }: Json) => AlarmName !== undefined;
  // options.test.ts has the probe, the only one whose missing data is a failure.
  const ofProbe = ({ TreatMissingData }: Json) => TreatMissingData === "breaching";
  const ofStage = alarms.filter((alarm) => !ofRelease(alarm) && !ofProbe(alarm));

  it("every alarm notifies the topic, and also when it ends unless each release adds it anew", () => {
    expect(output("AlarmTopicArn")).toBe(topic.id);
    for (const alarm of alarms) {
      expect(alarm.AlarmActions).toEqual([topic.id]);
      expect(alarm.OKActions ?? []).toEqual(ofRelease(alarm) ? [] : [topic.id]);
      expect(alarm.InsufficientDataActions ?? []).toEqual([]);
      expect(alarm.ActionsEnabled ?? true).toBe(true);
      expect(alarm.AlarmDescription).toMatch(/\.$/);
    }
  });

  it("every alarm is one that CloudWatch accepts, and only the probe's is triggered by missing data", () => {
    expect(alarms.filter(ofProbe)).toHaveLength(Number(probe));
    for (const alarm of alarms) {
      const minutes = periodOf(alarm);
      // PutMetricAlarm: a day at most, or seven with periods of at least an hour.
      expect(minutes * alarm.EvaluationPeriods).toBeLessThanOrEqual(DAY * (minutes < 60 ? 1 : 7));
      expect(metricsOf(alarm).length).toBeLessThanOrEqual(10);
      expect(alarmState(alarm)(new Metrics(), START)).toBe(ofProbe(alarm));
    }
  });

  it("every metric of an alarm belongs to a resource of this stack, and the dashboard draws it", () => {
    const { widgets } = JSON.parse(only("CloudWatch::Dashboard").DashboardBody);
    const drawn = JSON.stringify(widgets);
    const own = [
      stackName(stage),
      ...["Lambda::Function", "DynamoDB::Table"].flatMap(find).map(({ id }) => id),
    ];
    for (const { Namespace, MetricName, Dimensions = [] } of ofStage.flatMap(metricsOf)) {
      expect(drawn).toContain(Namespace.startsWith("AWS/") ? `"${Namespace}","${MetricName}"` : Namespace);
      const owners = Dimensions.map(({ Value }: Json) => Value);
      if (Namespace.startsWith("AWS/"))
        expect(owners.filter((owner: string) => own.includes(owner))).toHaveLength(1);
      else expect(Namespace).toBe(`AnimalStore/${stackName(stage)}`);
    }
  });

  const [requests, clientErrors, serverErrors, latency] = ["Count", "4XXError", "5XXError", "Latency"].map(
    (MetricName) => ({
      Namespace: "AWS/ApiGateway",
      MetricName,
      Dimensions: [{ Name: "ApiName", Value: stackName(stage) }],
    }),
  );
  /** Records what API Gateway measures of so many requests a minute (API Gateway guide, "Metrics"). */
  function respond(metrics: Metrics, start: number, minutes: number, rate: number, status = 200, ms = 50) {
    metrics.record(start, requests, 1, rate, minutes);
    metrics.record(start, clientErrors, status >= 400 && status < 500 ? 1 : 0, rate, minutes);
    metrics.record(start, serverErrors, status >= 500 ? 1 : 0, rate, minutes);
    metrics.record(start, latency, ms, rate, minutes);
  }
  const triggered = (metrics: Metrics, minute: number) =>
    ofStage
      .filter((alarm) => alarmState(alarm)(metrics, minute))
      .map(({ AlarmDescription }) => AlarmDescription);

  /** Three days without a fault, as long as the longest window. */
  function healthyDays() {
    const metrics = new Metrics();
    respond(metrics, START - 3 * DAY, 3 * DAY, operations.length * 60);
    return metrics;
  }

  it.each([1, 600])("a healthy week notifies nobody at %d requests a minute", (rate) => {
    const metrics = new Metrics();
    const causes = ofStage.flatMap(metricsOf).filter(({ Namespace }) => /Lambda|DynamoDB/.test(Namespace));
    respond(metrics, START, 7 * DAY, (rate * 2) / 3);
    respond(metrics, START, 7 * DAY, rate / 3, 401); // one of three clients has an expired key,
    respond(metrics, START + 3000, 60, 2, 401); // and retries for an hour
    respond(metrics, START + 5000, 1, 1000, 401); // a scanner
    // Ten isolated faults, each with the metrics of every cause.
    const isolated = Array.from({ length: 10 }, (_, n) => 500 + n * 1000);
    for (const n of isolated) {
      respond(metrics, START + n, 1, 1, 503, 6000);
      for (const cause of causes) metrics.record(START + n, cause, 1);
    }
    for (const alarm of ofStage) {
      const [isTriggered, period] = [alarmState(alarm), periodOf(alarm)];
      // As long as an alarm sees it.
      for (const start of [3000, 5000, ...isolated])
        for (let n = start; n < start + period * (alarm.EvaluationPeriods + 2); n += Math.ceil(period / 12))
          if (isTriggered(metrics, START + n)) throw new Error(`At ${n} minutes: ${alarm.AlarmDescription}`);
    }
  });

  /** The metrics of a request reach CloudWatch within two minutes. */
  const NOTICED = 10 - 2;
  it.each<[fault: string, failing: readonly string[], status: number, latencyMs: number]>([
    ...operations.map(({ id }): [string, string[], number, number] => [`a dead ${id}`, [id], 503, 50]),
    ["a dead authorizer", functions, 503, 50],
    ["an outage of DynamoDB", functions, 503, 3600],
    ["a release that refuses every key", functions, 401, 50],
    ["a limit that is exceeded for everybody", functions, 429, 50],
  ])("%s notifies within 10 minutes at 1 request a second to each operation", (_, failing, ...response) => {
    const metrics = healthyDays();
    expect(triggered(metrics, START)).toEqual([]);
    for (const { id } of operations)
      respond(metrics, START, NOTICED, 60, ...(failing.includes(id) ? response : []));
    expect(triggered(metrics, START + NOTICED)).not.toEqual([]);
  });

  it.each([0.9, 1.1, 2, 5, 7, 9, 14, 15, 100, 1000])(
    "a fault that uses the objective's budget of 5xx %d times too fast notifies before an eighth is used",
    (rate) => {
      const decision = readFileSync(new URL("../../../docs/decisions/alarms.md", import.meta.url), "utf8");
      const [, objective, days] = /objective is ([\d.]+) % .* over (\d+) days/.exec(decision) ?? [];
      const metrics = healthyDays();
      const failed = operations.length * 60 * rate * (1 - Number(objective) / 100);
      const minutes = Math.floor((Number(days) * DAY) / 8 / rate);
      respond(metrics, START, minutes, operations.length * 60 - failed);
      respond(metrics, START, minutes, failed, 500);
      expect(triggered(metrics, START + minutes).length > 0).toBe(rate > 1);
    },
  );

  const throttled = functions.flatMap((name) => [
    {
      Namespace: "AWS/Lambda",
      MetricName: "Throttles",
      FunctionName: output(`${pascalCase(name)}FunctionName`),
    },
    // The calls that the role of the function allows.
    ...fn(name)
      .grants.filter(({ action }: Json) => action.startsWith("dynamodb:"))
      .map(({ action, resource }: Json) => ({
        Namespace: "AWS/DynamoDB",
        MetricName: "ThrottledRequests",
        TableName: find("DynamoDB::Table").find(({ id }) => resource.split("/")[0] === arnOf(id))?.id,
        Operation: action.replace("dynamodb:", ""),
      })),
  ]);
  it.each(throttled)(
    "throttling that lasts notifies: $MetricName $FunctionName $TableName $Operation",
    (metric) => {
      const { Namespace, MetricName, ...dimensions } = metric;
      const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
      const metrics = new Metrics();
      metrics.record(START, { Namespace, MetricName, Dimensions }, 1, 1, 15);
      expect(triggered(metrics, START + 15)).not.toEqual([]);
    },
  );

  it.each(operations.filter((operation) => "deprecation" in operation))(
    "calls of $id notify only when its end comes near",
    ({ id, deprecation }) => {
      const sunset = deprecation.sunset.getTime() / 60_000;
      const calls = ofStage
        .flatMap(metricsOf)
        .find(({ MetricName }) => MetricName === `${id}DeprecatedCalls`);
      for (const [daysBefore, notified] of [
        [365, false],
        [1, true],
        [-1, true],
      ] as const) {
        const metrics = new Metrics();
        expect(triggered(metrics, sunset - daysBefore * DAY)).toEqual([]);
        metrics.record(sunset - daysBefore * DAY - 1, calls, 1);
        expect(triggered(metrics, sunset - daysBefore * DAY)).toHaveLength(Number(notified));
      }
    },
  );

  describe("the topic and its key", () => {
    const key = only("KMS::Key");
    const { PolicyDocument, Topics } = only("SNS::TopicPolicy");
    const alarm = (region: string, account: string) => `arn:aws:cloudwatch:${region}:${account}:alarm:Any`;
    const own = "000000000000";
    const other = "111111111111";

    it.each<[what: string, service: string, account: string | undefined, arn: string | undefined]>([
      ["alarms of another account", "cloudwatch", other, alarm("local", other)],
      ["an alarm that only claims this account", "cloudwatch", own, alarm("local", other)],
      ["another account that claims an alarm", "cloudwatch", other, alarm("local", own)],
      ["alarms of another region", "cloudwatch", own, alarm("eu-west-1", own)],
      ["a request without a source", "cloudwatch", undefined, undefined],
      ["other services", "events", own, alarm("local", own)],
      ["nothing else: alarms of this account and region", "cloudwatch", own, alarm("local", own)],
    ])("refuse %s", (what, service, account, arn) => {
      const allowed = what.startsWith("nothing else");
      const principal = { Service: `${service}.amazonaws.com` };
      const context = { "aws:SourceAccount": account, "aws:SourceArn": arn };
      const publish = (secure: string) => {
        const request = { action: "sns:Publish", resource: topic.id, principal };
        return allows(PolicyDocument.Statement, {
          ...request,
          context: { ...context, "aws:SecureTransport": secure },
        });
      };
      expect([publish("true"), publish("false")]).toEqual([allowed, false]);
      // What SNS needs to publish to an encrypted topic (SNS guide, "Key management"), and no more.
      for (const action of ["kms:GenerateDataKey", "kms:Decrypt"])
        expect(allows(key.KeyPolicy.Statement, { action, principal, context })).toBe(allowed);
      for (const action of ["kms:PutKeyPolicy", "kms:ScheduleKeyDeletion"])
        expect(allows(key.KeyPolicy.Statement, { action, principal, context })).toBe(false);
    });

    it("belong to this account, which rotates the key", () => {
      expect([Topics, topic.KmsMasterKeyId]).toEqual([[topic.id], arnOf(key.id)]);
      const root = (account: string) => ({ AWS: `arn:aws:iam::${account}:root` });
      const administers = (account: string) =>
        allows(key.KeyPolicy.Statement, { action: "kms:PutKeyPolicy", principal: root(account) });
      expect([administers(own), administers(other)]).toEqual([true, false]);
      expect(key.EnableKeyRotation).toBe(true);
      expect(find("KMS::Key")).toMatchObject([{ DeletionPolicy: "Delete" }]); // a key without a topic still costs
    });
  });
});
