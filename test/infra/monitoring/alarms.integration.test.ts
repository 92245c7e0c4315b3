import { readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { anchorOf, stackName } from "../../../infra/names.ts";
import type { Json } from "../../support/json.ts";
import { functionNames, readResources } from "../../support/resources.ts";
import { stageVariants } from "../../support/stages.ts";

// What notifies people. access-log.integration.test.ts has which requests count.

const incidents = readFileSync(new URL("../../../docs/incidents.md", import.meta.url), "utf8");
const anchors = [...incidents.matchAll(/^##+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));

/** The metrics that an alarm reads. */
const metricsOf = ({ Metrics, ...alarm }: Json): Json[] =>
  Metrics?.flatMap(({ MetricStat }: Json) => MetricStat?.Metric ?? []) ?? [alarm];

describe.each(stageVariants)("in $name, $settings", ({ name: stage, settings, assembly }) => {
  const { find, fn, only, output } = readResources(assembly, stackName(stage));
  const [page, notice] = [output("PageTopicArn"), output("NoticeTopicArn")];
  const alarms = find("CloudWatch::Alarm");
  /** The name of an alarm as docs/incidents.md has it, without that of the stack. */
  const nameOf = ({ AlarmName }: Json): string =>
    AlarmName.replace(`${stackName(stage)}-`, "").replace(/^\w+(?=Throttles$)/, "<function>");

  it("docs/incidents.md lists the alarms, and has the section that each of them names", () => {
    const listed = [...incidents.matchAll(/^- `(\S+)`, a (page|notice)/gm)].map(
      ([, name, kind]) => `${name}, a ${kind}`,
    );
    const kinds = alarms.map(
      (alarm) => `${nameOf(alarm)}, a ${alarm.AlarmActions[0] === page ? "page" : "notice"}`,
    );
    expect([...new Set(kinds)].sort()).toEqual(listed.sort());
    for (const { AlarmDescription } of alarms) {
      const end = /\. See (\S*)docs\/incidents\.md#(\S+), and the dashboard (\S+)\.$/;
      const [, folder, anchor, dashboard] = end.exec(AlarmDescription) ?? [];
      expect(folder).toBe(settings === "filled in" ? "https://github.com/acme/animal-store/blob/main/" : "");
      expect(anchors).toContain(anchor);
      expect(dashboard).toBe(only("CloudWatch::Dashboard").DashboardName);
    }
  });

  it("a topic accepts what the alarms of the account publish", () => {
    const publishing = find("SNS::TopicPolicy").flatMap(({ PolicyDocument }) =>
      PolicyDocument.Statement.filter(({ Effect }: Json) => Effect === "Allow"),
    );
    expect(publishing.map(({ Resource }) => Resource)).toEqual([page, notice]);
    const arns = alarms.map(({ AlarmName }) => `arn:aws:cloudwatch:local:000000000000:alarm:${AlarmName}`);
    for (const { Condition } of publishing)
      expect(arns.filter((arn) => !matchesGlob(arn, Condition.ArnLike["aws:SourceArn"]))).toEqual([]);
  });

  it("an alarm uses each metric that it reads, and a mail names what it counts", () => {
    for (const alarm of alarms) {
      const { AlarmDescription, Threshold, Metrics = [] } = alarm;
      const expression = Metrics.map(({ Expression }: Json) => Expression).join();
      const read = Metrics.flatMap(({ Id, MetricStat }: Json) => (MetricStat ? Id : []));
      expect(expression.match(/\w+/g) ?? []).toEqual(expect.arrayContaining(read));
      if (Threshold === 0) for (const id of read) expect(expression).toContain(`FILL(${id}, 0)`); // else it keeps its state
      expect(alarm.ComparisonOperator).toBe("GreaterThanThreshold");
      const names = metricsOf(alarm).map(({ MetricName }) => MetricName);
      if (AlarmDescription.includes("the served requests")) expect(names).toContain("ServedLatency");
    }
  });

  it("an alarm that ends sends a notice, never a page", () => {
    const ends = { OKActions: [notice], actions: 1 };
    for (const { id, AlarmActions, OKActions } of alarms)
      expect({ id, OKActions, actions: AlarmActions.length }).toEqual({ id, ...ends });
  });

  it.each(functionNames)(
    "a notice reads the throttles of %s, and of every call that its role allows",
    (name) => {
      const { id, grants } = fn(name);
      const read = alarms.flatMap(metricsOf);
      const dimensions = (values: object) => Object.entries(values).map(([Name, Value]) => ({ Name, Value }));
      const expected = grants.flatMap(({ action, resource }: Json) => {
        const [service, Operation] = action.split(":");
        const TableName = /function:(\w+)/.exec(resource)?.[1];
        const Dimensions = dimensions({ Operation, TableName });
        return service === "dynamodb" ? { MetricName: "ThrottledRequests", Dimensions } : [];
      });
      for (const one of [
        ...expected,
        { MetricName: "Throttles", Dimensions: dimensions({ FunctionName: id }) },
      ])
        expect(read).toContainEqual(expect.objectContaining(one));
    },
  );
});
