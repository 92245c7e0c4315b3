import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { formatAccessLog } from "../../../emulator/gateway/context.ts";
import { stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import { alarmState, countedFrom, Metrics, metricsOf, periodOf } from "../../support/cloudwatch.ts";
import type { Json } from "../../support/json.ts";
import { arnOf, functionNames, readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

// What notifies people, and who can. canary-deployment.integration.test.ts has the alarms of a canary deployment.

/** Minutes. */
const DAY = 1440;
/** When the scenarios begin, in minutes since 1970. */
const START = Date.UTC(2027, 0, 1) / 60_000;
/** The metrics of a request reach CloudWatch within so many minutes. */
const METRICS_DELAY = 2;
/**
 * What "API Gateway counts modified gateway response status codes as 4XXError errors" means (its guide, "Dimensions and
 * metrics"): those whose status is then a 4xx, or all.
 */
const readings = ["by its status", "as a 4xx"] as const;
/** With each reading, metrics that are counted from the log come at the same time as the others, or minutes later. */
const situations = readings.flatMap((reading) => [0, 3].map((logDelay) => ({ reading, logDelay })));

/** A response, with what the access log says about it. */
interface Response {
  status: number;
  /** the type of a gateway response */
  error?: string;
  keyId?: string;
  ms?: number;
  /** the access log misses it */
  missed?: boolean;
}
const keyId = "key_1";
const good: Response = { status: 200, keyId };
const crash: Response = { status: 503, error: "INTEGRATION_FAILURE", keyId };
const withoutKey: Response = { status: 401, error: "UNAUTHORIZED" };
const refused: Response = { status: 401, error: "ACCESS_DENIED", keyId: "unknown" };
const throttled: Response = { status: 429, error: "THROTTLED", keyId };
const blocked: Response = { status: 429, error: "WAF_FILTERED" };

const topicOf = ({ AlarmActions: [topic] }: Json): string => topic;
const dimensions = (values: object) => Object.entries(values).map(([Name, Value]) => ({ Name, Value }));
const document = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");

describe.each(deployedStages)("in $name", ({ name: stage, wafRateLimits }) => {
  const { find, fn, only, output } = readResources(shared.assembly, stackName(stage));
  const { Format, DestinationArn } = only("ApiGateway::Stage").AccessLogSetting;
  const filters = find("Logs::MetricFilter").filter((one) => DestinationArn.endsWith(`:${one.LogGroupName}`));
  const [page, notice] = [output("PageTopicArn"), output("NoticeTopicArn")];
  const alarms = find("CloudWatch::Alarm");
  const ofStage = alarms.filter(({ AlarmName }) => AlarmName === undefined);
  const states = new Map(ofStage.map((alarm) => [alarm, alarmState(alarm)]));

  const [, objective, days] =
    /objective ([\d.]+) over (\d+) days/.exec(only("CloudWatch::Dashboard").DashboardBody) ?? [];

  it("docs/decisions/alarms.md states the objective that infra/monitoring/alarm-definitions.ts has", () => {
    expect(document("decisions/alarms.md")).toContain(
      `objective is ${objective} % of requests without a 5xx over ${days} days`,
    );
  });

  it("every alarm notifies a topic, and also when it ends unless each deployment adds it anew", () => {
    for (const { AlarmName, AlarmActions, ...alarm } of alarms) {
      const { OKActions = [], InsufficientDataActions = [], ActionsEnabled = true } = alarm;
      expect([[[page]], [[notice]]]).toContainEqual([AlarmActions]);
      expect(OKActions).toEqual(AlarmName ? [] : AlarmActions);
      expect([InsufficientDataActions, ActionsEnabled]).toEqual([[], true]);
    }
  });

  it("every alarm is in the table of docs/incidents.md, and says which section and dashboard to look at", () => {
    const anyFunction = new RegExp(functionNames.join("|"));
    const headings = [...document("incidents.md").matchAll(/^##+ (.+)$/gm)].map(([, heading]) => heading);
    for (const { AlarmDescription } of alarms) {
      const [, text = "", section, dashboard] =
        /^(.+)\. See "(.+)" in docs\/incidents\.md, and the dashboard (.+)\.$/.exec(AlarmDescription) ?? [];
      expect(document("incidents.md")).toContain(`| ${text.replace(anyFunction, "the function")} `);
      expect(headings).toContain(section);
      expect(dashboard).toBe(only("CloudWatch::Dashboard").DashboardName);
    }
  });

  it("every alarm is one that CloudWatch accepts, and none is triggered by missing data", () => {
    for (const alarm of alarms) {
      const minutes = periodOf(alarm);
      // PutMetricAlarm: a day at most, or seven with periods of at least an hour.
      expect(minutes * alarm.EvaluationPeriods).toBeLessThanOrEqual(DAY * (minutes < 60 ? 1 : 7));
      expect(metricsOf(alarm).length).toBeLessThanOrEqual(10);
      expect(alarmState(alarm)(new Metrics(), START)).toBe(false);
    }
  });

  it("every alarm describes its periods", () => {
    for (const { AlarmDescription, ...alarm } of ofStage) {
      const hours = periodOf(alarm) / 60;
      const period = hours < 1 ? `${hours * 60} minutes` : hours === 1 ? "hour" : `${hours} hours`;
      const several = alarm.EvaluationPeriods === 3 ? "in each of three periods of" : "the last";
      expect(AlarmDescription).toContain(`${several} ${period}`);
    }
  });

  it("every metric filter has either dimensions or 0 as its default, because CloudWatch Logs refuses both", () => {
    const transformations = find("Logs::MetricFilter").flatMap((one) => one.MetricTransformations);
    for (const { DefaultValue, Dimensions } of transformations)
      expect(DefaultValue).toBe(Dimensions ? undefined : 0);
  });

  it("every metric of an alarm belongs to a resource of this stack, and the dashboard draws it", () => {
    const drawn = JSON.stringify(JSON.parse(only("CloudWatch::Dashboard").DashboardBody));
    const own = [
      stackName(stage),
      ...["Lambda::Function", "DynamoDB::Table"].flatMap(find).map(({ id }) => id),
      ...find("WAFv2::WebACL").map(({ VisibilityConfig }) => VisibilityConfig.MetricName),
    ];
    for (const { Namespace, MetricName, Dimensions = [] } of alarms.flatMap(metricsOf)) {
      const isOfAws = Namespace.startsWith("AWS/");
      expect(drawn).toContain(isOfAws ? `"${Namespace}","${MetricName}"` : Namespace);
      const owners = Dimensions.filter(({ Value }: Json) => own.includes(Value));
      if (isOfAws) expect(owners).toHaveLength(1);
      else expect(Namespace).toBe(`AnimalStore/${stackName(stage)}`);
    }
  });

  /** Records what AWS WAF and API Gateway measure and log of so many responses a minute. */
  function traffic({ reading, logDelay }: (typeof situations)[number]) {
    const metrics = new Metrics(logDelay);
    const respond = (start: number, minutes: number, rate: number, response: Response) => {
      const { status, error, keyId: key, ms = 50, missed } = response;
      const isClientError = status < 500 ? status >= 400 : error !== undefined && reading === "as a 4xx";
      const decision = error === "WAF_FILTERED" ? "BlockedRequests" : "AllowedRequests";
      const ofApi = dimensions({ ApiName: stackName(stage) });
      const ofWebAcl = dimensions({ WebACL: `${stackName(stage)}-WebAcl`, Rule: "ALL", Region: "local" });
      const record = (Namespace: string, Dimensions: Json, MetricName: string, value: number) =>
        metrics.record(start, { Namespace, MetricName, Dimensions }, value, rate, minutes);
      record("AWS/ApiGateway", ofApi, "Count", 1);
      record("AWS/ApiGateway", ofApi, "4XXError", +isClientError);
      record("AWS/ApiGateway", ofApi, "5XXError", +(status >= 500 && !isClientError));
      record("AWS/ApiGateway", ofApi, "Latency", ms);
      record("AWS/WAFV2", ofWebAcl, decision, 1);
      const variables = { status, "authorizer.keyId": key, "error.responseType": error };
      const line = JSON.parse(formatAccessLog(Format, variables));
      for (const metric of missed ? [] : countedFrom(filters, line))
        metrics.record(start, metric, 1, rate, minutes);
    };
    /** The alarms that are triggered at a minute. */
    const notifying = (minute: number) => ofStage.filter((alarm) => states.get(alarm)?.(metrics, minute));
    /** Their topics. */
    const notified = (minute: number) => [...new Set(notifying(minute).map(topicOf))];
    return { metrics, respond, notifying, notified };
  }

  /** Traffic after three days without a fault, as long as the longest window. */
  function healthyDays(situation: (typeof situations)[number], rate: number) {
    const world = traffic(situation);
    world.respond(START - 3 * DAY, 3 * DAY, rate, good);
    expect(world.notified(START)).toEqual([]);
    return world;
  }

  const faults: [fault: string, failing: readonly string[], response: Response][] = [
    ...operations.map(({ id }): [string, string[], Response] => [`a crash of ${id}`, [id], crash]),
    ["a dead authorizer", functionNames, { status: 503, error: "AUTHORIZER_CONFIGURATION_ERROR" }],
    ["a failing store", functionNames, { status: 503, keyId, ms: 3600 }],
    ["an error of API Gateway that it does not log", functionNames, { status: 500, missed: true }],
  ];
  const lockouts: [lockout: string, response: Response][] = [
    ...(wafRateLimits ? [["AWS WAF blocks every request", blocked] as [string, Response]] : []),
    ["every key is refused", refused],
    ["every key is refused and not logged", { ...refused, keyId: undefined }],
    ["every key lacks its scope", { status: 403, keyId }],
    ["all clients exceed the limit", throttled],
    ["all clients exceed the limit and their keys are not logged", { ...throttled, keyId: undefined }],
  ];

  describe.each(situations)(
    "if a gateway response counts $reading, and log metrics are $logDelay minutes late",
    (situation) => {
      it.each(faults)("%s pages within 10 minutes, from 2.5 failures a minute on", (_, failing, response) => {
        for (const rate of [2.5, 60]) {
          const { respond, notified } = healthyDays(situation, rate * operations.length);
          for (const { id } of operations) respond(START, 10, rate, failing.includes(id) ? response : good);
          expect(notified(START + 10 - METRICS_DELAY)).toContain(page);
        }
      });

      it.each(faults)("%s pages again if it comes back within the hour", (_, failing, response) => {
        const rate = 60;
        const { respond, notifying } = healthyDays(situation, rate * operations.length);
        const fail = (start: number) => {
          for (const { id } of operations) respond(start, 10, rate, failing.includes(id) ? response : good);
        };
        const pages = (minute: number) => notifying(minute).filter((alarm) => topicOf(alarm) === page);
        fail(START);
        respond(START + 10, 20, rate * operations.length, good);
        fail(START + 30);
        const earlier = pages(START + 30);
        expect(earlier).not.toEqual([]);
        expect(pages(START + 40).filter((alarm) => !earlier.includes(alarm))).not.toEqual([]);
      });

      it.each(lockouts)("%s: a notice within 35 minutes, from 1 request a minute on", (_, response) => {
        for (const rate of [1, 180]) {
          const { respond, notified } = healthyDays(situation, rate);
          respond(START, 35, rate, response);
          expect(notified(START + 35 - METRICS_DELAY)).toEqual([notice]);
        }
      });

      it.each([
        [0.9, []],
        [1.1, [notice]],
        [7, [page, notice]],
        [100, [page, notice]],
      ])(
        "5xx that come %d times faster than the objective allows notify before an eighth of its budget is used",
        (speed, topics) => {
          const rate = operations.length * 60;
          const { respond, notified } = healthyDays(situation, rate);
          const failed = rate * speed * (1 - Number(objective) / 100);
          const minutes = Math.floor((Number(days) * DAY) / 8 / speed);
          // The objective is about all requests, also those without a key.
          for (const response of [good, withoutKey]) respond(START, minutes, (rate - failed) / 2, response);
          respond(START, minutes, failed, crash);
          expect(notified(START + minutes).sort()).toEqual([...topics].sort());
        },
      );

      it.each([
        [1, 1],
        [100, 2],
      ])(
        "a healthy week with %d requests a minute by day and %d by night pages nobody and sends at most 2 notices",
        (day, night) => {
          const { metrics, respond } = traffic(situation);
          for (let noon = START; noon < START + 7 * DAY; noon += DAY) {
            respond(noon, DAY / 2, day, good);
            respond(noon + DAY / 2, DAY / 2, night, good);
            respond(noon + 100, 30, operations.length * 60, good); // a deployment, with npm run traffic
            respond(noon + 110, 1, 3, crash);
            respond(noon + 110, 1, 10, { ...good, ms: 3000 });
          }
          respond(START, 7 * DAY, 6, refused); // a client with an expired key retries every 10 seconds,
          respond(START + 3000, 60, 30, refused); // and another every 2 seconds for an hour
          for (const perMinute of [21, 70, 1000]) respond(START + perMinute * 9, 360, perMinute, withoutKey); // scanners
          // Ten isolated faults, each with the metrics of every cause.
          const causes = ofStage
            .flatMap(metricsOf)
            .filter(({ Namespace }) => /Lambda|DynamoDB/.test(Namespace));
          for (const minute of Array.from({ length: 10 }, (_, n) => START + 500 + n * 1000)) {
            respond(minute, 1, 1, { ...crash, ms: 6000 });
            for (const cause of causes) metrics.record(minute, cause, 1);
          }
          const minutes = Array.from({ length: (7 * DAY) / 5 }, (_, n) => START + n * 5);
          const sent = ofStage.flatMap((alarm) => {
            const triggered = minutes.map((minute) => states.get(alarm)?.(metrics, minute));
            return triggered.flatMap((is, n) => (is !== (triggered[n - 1] ?? false) ? [topicOf(alarm)] : []));
          });
          expect(sent).not.toContain(page);
          expect(sent.length).toBeLessThanOrEqual(2);
        },
      );
    },
  );

  it("throttling that lasts is a notice, of every function and of every call that its role allows", () => {
    const throttles = functionNames.map(fn).flatMap(({ id, grants }) => [
      { Namespace: "AWS/Lambda", MetricName: "Throttles", FunctionName: id },
      ...grants
        .map(({ action, resource }: Json) => [...action.split(":"), /function:(\w+)/.exec(resource)?.[1]])
        .filter(([service]: string[]) => service === "dynamodb")
        .map(([, Operation, TableName]: string[]) => {
          return { Namespace: "AWS/DynamoDB", MetricName: "ThrottledRequests", TableName, Operation };
        }),
    ]);
    const unnoticed = throttles.filter(({ Namespace, MetricName, ...resource }) => {
      const metrics = new Metrics();
      metrics.record(START, { Namespace, MetricName, Dimensions: dimensions(resource) }, 1, 1, 15);
      const isTriggered = (alarm: Json) => states.get(alarm)?.(metrics, START + 15);
      return !ofStage.some((alarm) => topicOf(alarm) === notice && isTriggered(alarm));
    });
    expect(unnoticed).toEqual([]);
  });

  it("only alarms of this account and region can publish, over TLS, with a key that this account rotates", () => {
    const key = only("KMS::Key");
    const source = { "aws:SourceArn": "arn:aws:cloudwatch:local:000000000000:alarm:*" };
    const Condition = { StringEquals: { "aws:SourceAccount": "000000000000" }, ArnLike: source };
    const alarm = { Effect: "Allow", Principal: { Service: "cloudwatch.amazonaws.com" }, Condition };
    for (const topic of [page, notice]) {
      const policies = find("SNS::TopicPolicy").filter(({ Topics }) => Topics.includes(topic));
      const insecure = { Bool: { "aws:SecureTransport": "false" } };
      expect(policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)).toEqual(
        [{ Effect: "Deny", Principal: "*", Condition: insecure }, alarm].map((statement) => ({
          ...statement,
          Action: "sns:Publish",
          Resource: topic,
          Sid: expect.anything(),
        })),
      );
      expect(find("SNS::Topic").find(({ id }) => id === topic)?.KmsMasterKeyId).toBe(arnOf(key.id));
    }
    // What SNS needs to publish to an encrypted topic (SNS guide, "Key management"), and no more.
    const owner = { Effect: "Allow", Principal: { AWS: "arn:aws:iam::000000000000:root" } };
    expect(key.KeyPolicy.Statement).toEqual([
      { ...owner, Action: "kms:*", Resource: "*" },
      { ...alarm, Action: ["kms:Decrypt", "kms:GenerateDataKey*"], Resource: "*" },
    ]);
    // A key without a topic still costs.
    expect(key).toMatchObject({ EnableKeyRotation: true, DeletionPolicy: "Delete" });
  });
});
