import { describe, expect, it } from "@jest/globals";
import { stackName, stages } from "../../../infra/stages.ts";
import { operations } from "../../../lib/operations.ts";
import type { Json } from "../../../local/assembly/intrinsics.ts";
import { allows } from "../../support/iam.ts";
import { arnOf, readResources } from "../../support/resources.ts";

// What notifies people, and who can. release.test.ts has the alarms of a release.

const FIVE_MINUTES = 300;
const DAY = 86_400;

describe.each(stages)("in $name", ({ name: stage }) => {
  const { find, fn, only, output } = readResources(process.env.TEST_ASSEMBLY, stackName(stage));
  const alarms = find("CloudWatch::Alarm").map(({ Properties }) => Properties);
  const topic = only("SNS::Topic");

  it("every alarm, those of a release as well, notifies the topic when it is triggered and when it ends", () => {
    expect(output("AlarmTopicArn")).toBe(topic.id);
    for (const alarm of alarms) {
      expect(alarm).toMatchObject({ AlarmActions: [topic.id], OKActions: [topic.id] });
      expect(alarm.ActionsEnabled ?? true).toBe(true);
      expect(alarm.AlarmDescription).toMatch(/\.$/);
    }
  });

  // The metrics by the names that AWS documents, and the dimensions that lead to a resource of this template.
  const ofApi = { ApiName: stackName(stage) };
  const functions = [...operations.map(({ id }) => id), "authorize"];
  const ofFunction = (name: string) => ({ FunctionName: output(`${name}FunctionName`) });
  /** The calls of DynamoDB that the roles of the functions allow. */
  const calls = functions
    .flatMap((name) => fn(name).grants)
    .filter(({ action }) => action.startsWith("dynamodb:"))
    .map(({ action, resource }) => ({
      TableName: find("DynamoDB::Table").find(({ id }) => resource.split("/")[0] === arnOf(id))?.id,
      Operation: action.replace("dynamodb:", ""),
    }));
  const expected = [
    ["AWS/ApiGateway 5XXError Average", ofApi, FIVE_MINUTES, 0.01],
    ["AWS/ApiGateway Latency p99", ofApi, FIVE_MINUTES, 2000],
    ["AWS/Lambda Errors Sum", ofFunction("authorize"), FIVE_MINUTES, 0],
    ...functions.map((name) => ["AWS/Lambda Throttles Sum", ofFunction(name), FIVE_MINUTES, 0]),
    ...calls.map((call) => ["AWS/DynamoDB ThrottledRequests Sum", call, FIVE_MINUTES, 0]),
    ...operations
      .filter((operation) => "deprecation" in operation)
      .map(({ id }) => ["AWS/Lambda Invocations Sum", ofFunction(id), DAY, 0]),
  ];
  const dimensionsOf = ({ Dimensions }: Json) =>
    Object.fromEntries(Dimensions.map(({ Name, Value }: Json) => [Name, Value]));
  const ofStage = alarms.filter(({ AlarmName }) => AlarmName === undefined);

  it("people are notified of 5xx, slowness, a failing authorizer, throttling and deprecated calls", () => {
    const found = ofStage.map((alarm) => {
      const { Namespace, MetricName, Statistic, ExtendedStatistic, Period, Threshold } = alarm;
      const metric = [Namespace, MetricName, Statistic ?? ExtendedStatistic].join(" ");
      return [metric, dimensionsOf(alarm), Period, Threshold];
    });
    expect(found).toEqual(expect.arrayContaining(expected));
    expect(found).toHaveLength(expected.length);
  });

  it("no alarm is triggered by missing data or at its threshold", () => {
    for (const alarm of alarms)
      expect(alarm).toMatchObject({
        ComparisonOperator: "GreaterThanThreshold",
        EvaluationPeriods: 1,
        TreatMissingData: "notBreaching",
      });
  });

  it("the dashboard draws the metric of every alarm", () => {
    const { widgets } = JSON.parse(only("CloudWatch::Dashboard").DashboardBody);
    const drawn = widgets
      .flatMap(({ properties }: Json) => properties.metrics ?? [])
      // The last member of a metric is how it is drawn.
      .filter((metric: Json[]) => metric.at(-1).visible !== false)
      .map((metric: Json[]) => metric.slice(0, -1).map(String).toSorted().join(" "));
    for (const alarm of ofStage) {
      const { Namespace, MetricName } = alarm;
      const dimensions = Object.entries<Json>(dimensionsOf(alarm)).flat();
      expect(drawn).toContain([Namespace, MetricName, ...dimensions].toSorted().join(" "));
    }
  });

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
