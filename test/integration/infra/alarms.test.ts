import { describe, expect, it } from "@jest/globals";
import type { Json } from "../../../infra/assembly/intrinsics.ts";
import { pascalCase } from "../../../infra/pascal-case.ts";
import { deployedStages, stackName } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import { alarmState, Metrics, metricsOf, periodOf } from "../../support/cloudwatch.ts";
import { allows } from "../../support/iam.ts";
import { arnOf, readResources } from "../../support/resources.ts";

// What notifies people, and who can. release.test.ts has the alarms of a canary deployment.

/** Minutes. */
const DAY = 1440;
/** When the scenarios begin, in minutes since 1970. */
const START = Date.UTC(2027, 0, 1) / 60_000;
const functions = [...operations.map(({ id }) => id), "authorize"];

describe.each(deployedStages)("in $name", ({ name: stage }) => {
  const { find, fn, only, output } = readResources(process.env.TEST_ASSEMBLY, stackName(stage));
  const alarms = find("CloudWatch::Alarm").map(({ Properties }) => Properties);
  const topic = only("SNS::Topic");

  const ofRelease = ({ AlarmName }: Json) => AlarmName !== undefined;
  const ofStage = alarms.filter((alarm) => !ofRelease(alarm));

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

  it("every alarm is one that CloudWatch accepts, and is not triggered by missing data", () => {
    for (const alarm of alarms) {
      const minutes = periodOf(alarm);
      // PutMetricAlarm: a day at most, or seven with periods of at least an hour.
      expect(minutes * alarm.EvaluationPeriods).toBeLessThanOrEqual(DAY * (minutes < 60 ? 1 : 7));
      expect(metricsOf(alarm).length).toBeLessThanOrEqual(10);
      expect(alarmState(alarm)(new Metrics(), START)).toBe(false);
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
  /** Records what API Gateway measures of requests (API Gateway guide, "Metrics"). */
  function respond(metrics: Metrics, minute: number, count: number, status = 200, latencyMs = 50) {
    metrics.record(minute, requests, 1, count);
    metrics.record(minute, clientErrors, status >= 400 && status < 500 ? 1 : 0, count);
    metrics.record(minute, serverErrors, status >= 500 ? 1 : 0, count);
    metrics.record(minute, latency, latencyMs, count);
  }
  const triggered = (metrics: Metrics, minute: number) =>
    ofStage
      .filter((alarm) => alarmState(alarm)(metrics, minute))
      .map(({ AlarmDescription }) => AlarmDescription);

  /** Three days without a fault, as long as the longest window. */
  function healthyDays() {
    const metrics = new Metrics();
    for (let minute = START - 3 * DAY; minute < START; minute++)
      respond(metrics, minute, operations.length * 60);
    return metrics;
  }

  it.each([1, 600])("a healthy week notifies nobody at %d requests a minute", (rate) => {
    const metrics = new Metrics();
    const causes = ofStage.flatMap(metricsOf).filter(({ Namespace }) => /Lambda|DynamoDB/.test(Namespace));
    for (let n = 0; n < 7 * DAY; n++) {
      // One of three clients has an expired key.
      const expired = rate < 3 ? Number(n % 3 === 0) * rate : rate / 3;
      respond(metrics, START + n, expired, 401);
      if (n === 5000) respond(metrics, START + n, 1000, 401); // a scanner
      const isolated = n % 1000 === 500; // ten in the week, each with the metrics of every cause
      respond(metrics, START + n, rate - expired - Number(isolated));
      if (isolated) respond(metrics, START + n, 1, 503, 6000);
      for (const cause of isolated ? causes : []) metrics.record(START + n, cause, 1);
    }
    for (const alarm of ofStage) {
      const [isTriggered, step] = [alarmState(alarm), Math.ceil(periodOf(alarm) / 12)];
      for (let n = 0; n < 7 * DAY; n += step)
        if (isTriggered(metrics, START + n)) throw new Error(`After ${n} minutes: ${alarm.AlarmDescription}`);
    }
  });

  /** The metrics of a request reach CloudWatch within two minutes. */
  const NOTICED = 10 - 2;
  it.each<[fault: string, failing: readonly string[], status: number, latencyMs: number]>([
    ...functions.map((name): [string, string[], number, number] => [
      `a dead ${name}`,
      name === "authorize" ? functions : [name],
      503,
      50,
    ]),
    ["an outage of DynamoDB", functions, 503, 3600],
    ["a release that refuses every key", functions, 401, 50],
    ["a limit that is exceeded for everybody", functions, 429, 50],
  ])(
    "%s notifies within 10 minutes at 1 request a second to each operation",
    (_, failing, status, latencyMs) => {
      const metrics = healthyDays();
      expect(triggered(metrics, START)).toEqual([]);
      for (let n = 0; n < NOTICED; n++)
        for (const { id } of operations)
          respond(metrics, START + n, 60, ...(failing.includes(id) ? [status, latencyMs] : []));
      expect(triggered(metrics, START + NOTICED)).not.toEqual([]);
    },
  );

  it.each([0.9, 1.1, 2, 5, 7, 9, 14, 15, 100, 1000])(
    "a fault that uses the budget of 5xx %d times as fast as the objective allows notifies before an eighth is used",
    (rate) => {
      const { DashboardBody } = only("CloudWatch::Dashboard");
      const [, objective, days] = /objective ([\d.]+) over (\d+) days/.exec(DashboardBody) ?? [];
      const metrics = healthyDays();
      const failed = operations.length * 60 * rate * (1 - Number(objective) / 100);
      const minutes = Math.floor((Number(days) * DAY) / 8 / rate);
      for (let n = 0; n < minutes; n++) {
        respond(metrics, START + n, operations.length * 60 - failed);
        respond(metrics, START + n, failed, 500);
      }
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
      for (let n = 0; n < 15; n++) metrics.record(START + n, { Namespace, MetricName, Dimensions }, 1);
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

    it.each<
      [string, service: string, account: string | undefined, arn: string | undefined, allowed: boolean]
    >([
      ["are for alarms of this account and region", "cloudwatch", own, alarm("local", own), true],
      ["refuse alarms of another account", "cloudwatch", other, alarm("local", other), false],
      ["refuse an alarm that only claims this account", "cloudwatch", own, alarm("local", other), false],
      ["refuse another account that claims an alarm", "cloudwatch", other, alarm("local", own), false],
      ["refuse alarms of another region", "cloudwatch", own, alarm("eu-west-1", own), false],
      ["refuse a request without a source", "cloudwatch", undefined, undefined, false],
      ["refuse other services", "events", own, alarm("local", own), false],
    ])("%s", (_, service, account, arn, allowed) => {
      const principal = { Service: `${service}.amazonaws.com` };
      const context = {
        "aws:SourceAccount": account,
        "aws:SourceArn": arn,
        "aws:SecureTransport": "true",
      };
      const publish = { action: "sns:Publish", resource: topic.id, principal };
      expect(Topics).toEqual([topic.id]);
      expect(allows(PolicyDocument.Statement, { ...publish, context })).toBe(allowed);
      const plain = { ...context, "aws:SecureTransport": "false" };
      expect(allows(PolicyDocument.Statement, { ...publish, context: plain })).toBe(false);

      // What SNS needs to publish to an encrypted topic (SNS guide, "Key management"), and no more.
      expect(topic.KmsMasterKeyId).toBe(arnOf(key.id));
      for (const action of ["kms:GenerateDataKey", "kms:Decrypt"])
        expect(allows(key.KeyPolicy.Statement, { action, principal, context })).toBe(allowed);
      for (const action of ["kms:PutKeyPolicy", "kms:ScheduleKeyDeletion"])
        expect(allows(key.KeyPolicy.Statement, { action, principal, context })).toBe(false);
    });

    it("belong to this account, which rotates the key", () => {
      const root = (account: string) => ({ AWS: `arn:aws:iam::${account}:root` });
      const administers = (account: string) =>
        allows(key.KeyPolicy.Statement, { action: "kms:PutKeyPolicy", principal: root(account) });
      expect([administers(own), administers(other)]).toEqual([true, false]);
      expect(key.EnableKeyRotation).toBe(true);
      expect(find("KMS::Key")).toMatchObject([{ DeletionPolicy: "Delete" }]); // a key without a topic still costs
    });
  });
});
