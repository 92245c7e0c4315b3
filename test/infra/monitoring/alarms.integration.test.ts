import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { formatAccessLog } from "../../../emulator/gateway/context.ts";
import { anchorOf, stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { countedFrom, evaluateAlarm, metricsOf } from "../../support/cloudwatch.ts";
import type { Json } from "../../support/json.ts";
import { functionNames, readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

// What notifies people. alarm-definitions.test.ts has how fast, and canary-deployment.integration.test.ts what stops a deployment.

/** Minutes. */
const DAY = 1440;
/** The length of the periods of an alarm, in minutes. All its metrics must have the same (CloudWatch guide, "Alarms"). */
function periodOf(alarm: Json): number {
  const [period = 0, ...others] = new Set(metricsOf(alarm).map(({ Period }) => Period));
  expect(others).toEqual([]);
  return period / 60;
}

const topicOf = ({ AlarmActions: [topic] }: Json): string => topic;

const incidents = readFileSync(new URL("../../../docs/incidents.md", import.meta.url), "utf8");
/** The descriptions of the list in docs/incidents.md, which `npm run generate` writes from the definitions. */
const listed = (incidents.split(/^<!-- \/?alarms -->$/m)[1] ?? "").match(/(?<=:\n {2}).+\.$/gm) ?? [];
/** The description of an alarm as the list has it. */
const listedText = ({ AlarmDescription }: Json) =>
  AlarmDescription.replace(/ See (docs|https:).*/, "").replace(
    new RegExp(functionNames.join("|")),
    "the function",
  );

it("every alarm in the list of docs/incidents.md exists in a stage", () => {
  const existing = deployedStages.flatMap(({ name }) =>
    readResources(shared.assembly, stackName(name)).find("CloudWatch::Alarm").map(listedText),
  );
  expect(listed.filter((text) => !existing.includes(text))).toEqual([]);
});

describe.each(deployedStages)("in $name", ({ name: stage }) => {
  const { find, fn, only, output } = readResources(shared.assembly, stackName(stage));
  const filters = find("Logs::MetricFilter");
  const { Format } = only("ApiGateway::Stage").AccessLogSetting;
  const [page, notice] = [output("PageTopicArn"), output("NoticeTopicArn")];
  const alarms = find("CloudWatch::Alarm");
  const ofStage = alarms.filter(({ AlarmName }) => AlarmName === undefined);

  it("every alarm notifies a topic, and also when it ends unless each deployment adds it anew", () => {
    for (const { id, AlarmName, AlarmActions, ...alarm } of alarms) {
      const { OKActions = [], InsufficientDataActions = [], ActionsEnabled = true } = alarm;
      expect(AlarmActions).toEqual([expect.stringMatching(`^(${page}|${notice})$`)]);
      const expected = {
        OKActions: AlarmName ? [] : AlarmActions,
        InsufficientDataActions: [],
        ActionsEnabled: true,
      };
      expect({ id, OKActions, InsufficientDataActions, ActionsEnabled }).toEqual({ id, ...expected });
    }
  });

  it("every alarm is in the list of docs/incidents.md, and names a section and the dashboard", () => {
    const anchors = [...incidents.matchAll(/^##+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
    for (const alarm of alarms) {
      expect(listed).toContain(listedText(alarm));
      const [, anchor, dashboard] =
        / See docs\/incidents\.md#(.+), and the dashboard (.+)\.$/.exec(alarm.AlarmDescription) ?? [];
      expect(anchors).toContain(anchor);
      expect(dashboard).toBe(only("CloudWatch::Dashboard").DashboardName);
    }
  });

  it("every alarm links to GitHub if the repository is filled in", () => {
    const texts = (assembly: string) =>
      readResources(assembly, stackName(stage))
        .find("CloudWatch::Alarm")
        .map(({ AlarmDescription }) => AlarmDescription);
    const address = "See https://github.com/acme/animal-store/blob/main/docs/";
    const linked = texts(shared.assembly).map((text) => text.replace("See docs/", address));
    expect(texts(shared.accountAssembly)).toEqual(linked);
  });

  it("every alarm is one that CloudWatch accepts, and none is triggered by missing data", () => {
    for (const alarm of alarms) {
      const minutes = periodOf(alarm);
      // PutMetricAlarm: a day at most, or seven with periods of at least an hour.
      expect(minutes * alarm.EvaluationPeriods).toBeLessThanOrEqual(DAY * (minutes < 60 ? 1 : 7));
      expect(metricsOf(alarm).length).toBeLessThanOrEqual(10);
      expect(alarm.TreatMissingData).toBe("notBreaching");
    }
  });

  it("a metric that AWS reports only above 0 counts as 0 without data", () => {
    for (const { Metrics = [] } of ofStage) {
      const expressions = Metrics.flatMap(({ Expression = "" }: Json) => Expression).join();
      for (const { Id, MetricStat } of Metrics)
        if (/WAFV2|DynamoDB/.test(MetricStat?.Metric.Namespace))
          expect(expressions.replaceAll(`FILL(${Id}, 0)`, "")).not.toContain(Id);
    }
  });

  it("every metric filter has either dimensions or 0 as its default, because CloudWatch Logs refuses both", () => {
    const transformations = find("Logs::MetricFilter").flatMap((one) => one.MetricTransformations);
    for (const { DefaultValue, Dimensions } of transformations)
      expect(DefaultValue).toBe(Dimensions ? undefined : 0);
  });

  it("every metric of an alarm is of this stack, and the dashboard draws it", () => {
    const drawn = JSON.stringify(JSON.parse(only("CloudWatch::Dashboard").DashboardBody));
    const own = [
      stackName(stage),
      ...["Lambda::Function", "DynamoDB::Table", "Logs::LogGroup"].flatMap(find).map(({ id }) => id),
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

  type Requests = [perMinute: number, variables: object];
  /** The alarms that are triggered by requests: so many of each kind in a minute, for some minutes. */
  function triggeredBy(requests: Requests[], minutes: number, logStops = false) {
    const counts = new Map<string, number>();
    const add = (name: string, count: number) => counts.set(name, (counts.get(name) ?? 0) + count);
    for (const [perMinute, variables] of requests) {
      const line = JSON.parse(
        formatAccessLog(Format, { httpMethod: "GET", resourcePath: "/pets", ...variables }),
      );
      add("Count", perMinute * minutes);
      if (line.status.startsWith("5")) add("5XXError", perMinute * minutes);
      if (logStops) continue;
      add("IncomingLogEvents", perMinute * minutes);
      const counted = countedFrom(filters, line).filter(({ Dimensions }) => Dimensions.length === 0);
      for (const { MetricName } of counted) add(MetricName, perMinute * minutes);
    }
    return ofStage
      .filter(({ Metrics = [], Threshold }) => {
        const measured = Metrics.some(({ MetricStat }: Json) => counts.has(MetricStat?.Metric.MetricName));
        return measured && evaluateAlarm({ Metrics }, ({ MetricName }) => counts.get(MetricName)) > Threshold;
      })
      .map((alarm) =>
        topicOf(alarm) === page ? "page" : /UnloggedRequests/.test(alarm.id) ? "unlogged" : "notice",
      );
  }

  const outage: Requests = [60, { status: 503, "authorizer.keyId": "key_1" }];

  const key = { "authorizer.keyId": "key_2" };
  // access-log.integration.test.ts has how each of them counts.
  const noise = [
    { status: 404 },
    { status: 401, "error.responseType": "UNAUTHORIZED" },
    { status: 401, "error.responseType": "ACCESS_DENIED", "authorizer.keyId": "unknown" },
    { status: 401, "error.responseType": "ACCESS_DENIED", ...key },
    { status: 403, ...key },
    { status: 405, ...key },
    { status: 429, "error.responseType": "THROTTLED" },
    { status: 429, "error.responseType": "WAF_FILTERED" },
  ];
  it.each(noise)("an outage pages beside 500 a second of %j", (variables) => {
    expect(triggeredBy([outage, [30_000, variables]], 5)).toContain("page");
  });

  it("an outage pages if the access log stops, and a notice says that it has stopped", () => {
    expect(triggeredBy([outage], 5, true)).toEqual(expect.arrayContaining(["page", "unlogged"]));
    expect(triggeredBy([outage], 5)).not.toContain("unlogged");
  });

  it("5xx without a key page, such as those of an authorizer that fails", () => {
    const error = { status: 503, "error.responseType": "AUTHORIZER_CONFIGURATION_ERROR" };
    expect(triggeredBy([[60, error]], 5)).toContain("page");
  });

  it("a 5xx among thousands of served requests notifies nobody", () => {
    const served: Requests = [6000, { status: 200, "authorizer.keyId": "key_1" }];
    expect(triggeredBy([served, [3, outage[1]]], 15)).toEqual([]);
  });

  it("a notice reads the throttles of every function, and of every call that its role allows", () => {
    const read = ofStage.filter((alarm) => topicOf(alarm) === notice).flatMap(metricsOf);
    for (const { id, grants } of functionNames.map(fn)) {
      const Dimensions = [{ Name: "FunctionName", Value: id }];
      expect(read).toContainEqual(expect.objectContaining({ MetricName: "Throttles", Dimensions }));
      for (const { action, resource } of grants) {
        const [service, Operation] = action.split(":");
        if (service !== "dynamodb") continue;
        const TableName = /function:(\w+)/.exec(resource)?.[1];
        const Dimensions = Object.entries({ Operation, TableName }).map(([Name, Value]) => ({ Name, Value }));
        expect(read).toContainEqual(expect.objectContaining({ MetricName: "ThrottledRequests", Dimensions }));
      }
    }
  });
});
