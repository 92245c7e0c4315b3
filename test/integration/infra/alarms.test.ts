import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { deployedStages, stackName } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import { alarmState, Metrics, metricsOf, periodOf } from "../../support/cloudwatch.ts";
import { allows } from "../../support/iam.ts";
import type { Json } from "../../support/json.ts";
import { arnOf, functionNames, readResources } from "../../support/resources.ts";

// What notifies people, and who can. canary-deployment.test.ts has the alarms of a canary deployment.

/** Minutes. */
const DAY = 1440;
/** When the scenarios begin, in minutes since 1970. */
const START = Date.UTC(2027, 0, 1) / 60_000;

describe.each(deployedStages)("in $name", ({ name: stage, probe = false }) => {
  const { find, fn, only, output } = readResources(process.env.TEST_ASSEMBLY, stackName(stage));
  const topic = only("SNS::Topic");
  const alarms = find("CloudWatch::Alarm");
  // options.test.ts has the probe, the only one whose missing data is a failure.
  const isOfProbe = ({ TreatMissingData }: Json) => TreatMissingData === "breaching";
  const ofStage = alarms.filter((alarm) => alarm.AlarmName === undefined && !isOfProbe(alarm));

  it("every alarm notifies the topic, and also when it ends unless each release adds it anew", () => {
    expect(output("AlarmTopicArn")).toBe(topic.id);
    for (const { AlarmName, AlarmActions, ...alarm } of alarms) {
      const { OKActions = [], InsufficientDataActions = [], ActionsEnabled = true, AlarmDescription } = alarm;
      expect([AlarmActions, OKActions]).toEqual([[topic.id], AlarmName ? [] : [topic.id]]);
      expect([InsufficientDataActions, ActionsEnabled]).toEqual([[], true]);
      expect(AlarmDescription).toMatch(/\.$/);
    }
  });

  it("every alarm is one that CloudWatch accepts, and only the probe's is triggered by missing data", () => {
    expect(alarms.filter(isOfProbe)).toHaveLength(Number(probe));
    for (const alarm of alarms) {
      const minutes = periodOf(alarm);
      // PutMetricAlarm: a day at most, or seven with periods of at least an hour.
      expect(minutes * alarm.EvaluationPeriods).toBeLessThanOrEqual(DAY * (minutes < 60 ? 1 : 7));
      expect(metricsOf(alarm).length).toBeLessThanOrEqual(10);
      expect(alarmState(alarm)(new Metrics(), START)).toBe(isOfProbe(alarm));
    }
  });

  it("every metric of an alarm belongs to a resource of this stack, and the dashboard draws it", () => {
    const drawn = JSON.stringify(JSON.parse(only("CloudWatch::Dashboard").DashboardBody));
    const own = [
      stackName(stage),
      ...["Lambda::Function", "DynamoDB::Table"].flatMap(find).map(({ id }) => id),
    ];
    for (const { Namespace, MetricName, Dimensions = [] } of alarms.flatMap(metricsOf)) {
      const isOfAws = Namespace.startsWith("AWS/");
      expect(drawn).toContain(isOfAws ? `"${Namespace}","${MetricName}"` : Namespace);
      const owners = Dimensions.filter(({ Value }: Json) => own.includes(Value));
      if (isOfAws) expect(owners).toHaveLength(1);
      else expect(Namespace).toBe(`AnimalStore/${stackName(stage)}`);
    }
  });

  /** Records what API Gateway measures of so many requests a minute (API Gateway guide, "Metrics"). */
  function respond(metrics: Metrics, start: number, minutes: number, rate: number, status = 200, ms = 50) {
    const [client, server] = [status >= 400 && status < 500, status >= 500].map(Number);
    const measured = { Count: 1, "4XXError": client, "5XXError": server, Latency: ms };
    const Dimensions = [{ Name: "ApiName", Value: stackName(stage) }];
    for (const [MetricName, value = 0] of Object.entries(measured))
      metrics.record(start, { Namespace: "AWS/ApiGateway", MetricName, Dimensions }, value, rate, minutes);
  }
  const triggered = (metrics: Metrics, minute: number) =>
    ofStage.filter((alarm) => alarmState(alarm)(metrics, minute));

  /** Three days without a fault, as long as the longest window. */
  function healthyDays() {
    const metrics = new Metrics();
    respond(metrics, START - 3 * DAY, 3 * DAY, operations.length * 60);
    return metrics;
  }

  it.each([1, 600])("a healthy week notifies nobody at %d requests a minute", (rate) => {
    const metrics = new Metrics();
    respond(metrics, START, 7 * DAY, (rate * 2) / 3);
    respond(metrics, START, 7 * DAY, rate / 3, 401); // one of three clients has an expired key,
    respond(metrics, START + 3000, 60, 2, 401); // and retries for an hour
    respond(metrics, START + 5000, 1, 1000, 401); // a scanner
    // Ten isolated faults, each with the metrics of every cause.
    const isolated = Array.from({ length: 10 }, (_, n) => 500 + n * 1000);
    const causes = ofStage.flatMap(metricsOf).filter(({ Namespace }) => /Lambda|DynamoDB/.test(Namespace));
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
    ["a dead authorizer", functionNames, 503, 50],
    ["an outage of DynamoDB", functionNames, 503, 3600],
    ["a release that refuses every key", functionNames, 401, 50],
    ["a limit that is exceeded for everybody", functionNames, 429, 50],
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

  it("throttling that lasts notifies, of every function and of every call that its role allows", () => {
    const throttles = functionNames.map(fn).flatMap(({ id, grants }) => [
      { Namespace: "AWS/Lambda", MetricName: "Throttles", FunctionName: id },
      ...grants
        .map(({ action, resource }: Json) => [...action.split(":"), /function:(\w+)/.exec(resource)?.[1]])
        .filter(([service]: string[]) => service === "dynamodb")
        .map(([, Operation, TableName]: string[]) => {
          return { Namespace: "AWS/DynamoDB", MetricName: "ThrottledRequests", TableName, Operation };
        }),
    ]);
    const unnoticed = throttles.filter(({ Namespace, MetricName, ...dimensions }) => {
      const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
      const metrics = new Metrics();
      metrics.record(START, { Namespace, MetricName, Dimensions }, 1, 1, 15);
      return triggered(metrics, START + 15).length === 0;
    });
    expect(unnoticed).toEqual([]);
  });

  it.each(operations.filter((operation) => "deprecation" in operation))(
    "calls of $id notify only when its end comes near",
    ({ id, deprecation }) => {
      const sunset = deprecation.sunset.getTime() / 60_000;
      const calls = ofStage
        .flatMap(metricsOf)
        .find(({ MetricName }) => MetricName === `${id}DeprecatedCalls`);
      const notifiedAt = [365, 1, -1].map((daysBefore) => {
        const [metrics, end] = [new Metrics(), sunset - daysBefore * DAY];
        expect(triggered(metrics, end)).toEqual([]);
        metrics.record(end - 1, calls, 1);
        return triggered(metrics, end).length;
      });
      expect(notifiedAt).toEqual([0, 1, 1]);
    },
  );

  describe("the topic and its key", () => {
    const key = only("KMS::Key");
    const { PolicyDocument, Topics } = only("SNS::TopicPolicy");
    const [own, other] = ["000000000000", "111111111111"];
    const alarm = (region: string, account: string) => `arn:aws:cloudwatch:${region}:${account}:alarm:Any`;

    it.each<[what: string, service: string, account: string | undefined, arn: string | undefined]>([
      ["alarms of this account and region", "cloudwatch", own, alarm("local", own)],
      ["no alarms of another account", "cloudwatch", other, alarm("local", other)],
      ["no alarm that only claims this account", "cloudwatch", own, alarm("local", other)],
      ["no other account that claims an alarm", "cloudwatch", other, alarm("local", own)],
      ["no alarms of another region", "cloudwatch", own, alarm("eu-west-1", own)],
      ["no request without a source", "cloudwatch", undefined, undefined],
      ["no other service", "events", own, alarm("local", own)],
    ])("accept %s", (what, service, account, arn) => {
      const principal = { Service: `${service}.amazonaws.com` };
      const context = { "aws:SourceAccount": account, "aws:SourceArn": arn };
      const canPublish = (secure: string) =>
        allows(PolicyDocument.Statement, {
          action: "sns:Publish",
          resource: topic.id,
          principal,
          context: { ...context, "aws:SecureTransport": secure },
        });
      const canUse = (action: string) => allows(key.KeyPolicy.Statement, { action, principal, context });
      const accepted = !what.startsWith("no ");
      expect([canPublish("true"), canPublish("false")]).toEqual([accepted, false]);
      // What SNS needs to publish to an encrypted topic (SNS guide, "Key management"), and no more.
      expect(["kms:GenerateDataKey", "kms:Decrypt"].map(canUse)).toEqual([accepted, accepted]);
      expect(["kms:PutKeyPolicy", "kms:ScheduleKeyDeletion"].map(canUse)).toEqual([false, false]);
    });

    it("belong to this account, which rotates the key", () => {
      expect([Topics, topic.KmsMasterKeyId]).toEqual([[topic.id], arnOf(key.id)]);
      const canAdminister = (account = "") =>
        allows(key.KeyPolicy.Statement, {
          action: "kms:PutKeyPolicy",
          principal: { AWS: `arn:aws:iam::${account}:root` },
        });
      expect([own, other].map(canAdminister)).toEqual([true, false]);
      // A key without a topic still costs.
      expect(key).toMatchObject({ EnableKeyRotation: true, DeletionPolicy: "Delete" });
    });
  });
});
