import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import type { Api } from "../api/api.ts";
import type { WebAcl } from "../api/web-acl.ts";
import type { Functions } from "../function-set.ts";
import { pascalCase } from "../names.ts";

/** The share of the requests of 30 days that the objective for the availability allows to get a 5xx. */
export const ERROR_BUDGET = 0.001;

/**
 * How many times faster than the objective allows the 5xx of a window can come: 14.4 uses 2 % of the budget of 30 days in
 * an hour (The Site Reliability Workbook, "Alerting on SLOs"). There are no short windows: the metrics of an
 * alarm have one period, and a composite alarm costs more than both. An alarm can therefore end a window late.
 */
const burnRates = [
  { hours: 1, rate: 14.4, topic: "page" },
  { hours: 6, rate: 6, topic: "page" },
  { hours: 72, rate: 1, topic: "notice" },
] as const;

/** Fewer failures in a period are no reason to notify anybody, whatever their share is. */
const MIN_FAILURES = 20;

/** What is a slow response, in milliseconds. */
export const SLOW_MS = 2000;

/** What the alarms and the dashboard show. */
export interface MonitoredResources {
  api: Api;
  functions: Functions;
  tables: Record<string, Table>;
  webAcl: WebAcl | undefined;
}

/** By default, an alarm sends a notice when its metric exceeds 0. */
type AlarmSettings = Partial<AlarmProps> & { id: string; metric: IMetric; topic?: "page" | "notice" };

/** The alarms of a stage, and the topics that operators subscribe to. */
export class Alarms extends Construct {
  /** for what has to wake somebody */
  readonly page: Topic;
  /** for what can wait until working hours */
  readonly notice: Topic;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    // CloudWatch cannot publish to a topic that is encrypted with an AWS managed key.
    const masterKey = new Key(this, "Key", {
      enableKeyRotation: true,
      description: "Animal Store alarms",
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Without the conditions, the alarms of every AWS account could publish.
    const { partition, region, account } = Stack.of(this);
    const cloudWatch = new ServicePrincipal("cloudwatch.amazonaws.com", {
      conditions: {
        StringEquals: { "aws:SourceAccount": account },
        ArnLike: { "aws:SourceArn": `arn:${partition}:cloudwatch:${region}:${account}:alarm:*` },
      },
    });
    this.page = new Topic(this, "Page", { masterKey, enforceSSL: true });
    this.notice = new Topic(this, "Notice", { masterKey, enforceSSL: true });
    for (const topic of [this.page, this.notice]) topic.grantPublish(cloudWatch); // and the use of the key
  }

  /** Adds an alarm that notifies its topic when it is triggered. Missing data does not trigger it. */
  add({ id, topic = "notice", ...props }: AlarmSettings): Alarm {
    const alarm = new Alarm(this, id, {
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      threshold: 0,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
    });
    alarm.addAlarmAction(new SnsAction(this[topic]));
    return alarm;
  }

  /** Adds the alarms of a whole stage, which also notify when they end. A new alarm runs the action of its first state. */
  monitor(resources: MonitoredResources): void {
    for (const alarm of [serverErrors, refusals, latency, throttles].flatMap((subject) => subject(resources)))
      this.add(alarm).addOkAction(new SnsAction(this[alarm.topic ?? "notice"]));
  }
}

function serverErrors({ api }: MonitoredResources): AlarmSettings[] {
  return burnRates.map(({ hours, rate, topic }) => ({
    id: `ServerErrors${hours}h`,
    topic,
    alarmDescription: `In ${hours} h, 5xx came ${rate} times faster than the objective allows.`,
    metric: failureRate(api.serverErrors, api.restApi.metricCount(), MIN_FAILURES, Duration.hours(hours)),
    threshold: rate * ERROR_BUDGET,
  }));
}

/** Requests without a key of the right form, which are mostly those of scanners, do not count. */
const refusals = ({ api: { accessLog } }: MonitoredResources): AlarmSettings => ({
  id: "Refusals",
  alarmDescription: "In 5 minutes, more than half of the requests with a key were refused.",
  metric: failureRate(accessLog.refusals, accessLog.requestsWithKey, MIN_FAILURES, Duration.minutes(5)),
  threshold: 0.5,
});

const latency = ({ api: { restApi } }: MonitoredResources): AlarmSettings => ({
  id: "HighLatency",
  alarmDescription: `The slowest 1 % of the responses took more than ${SLOW_MS / 1000} s, in each of three periods of 5 minutes.`,
  metric: restApi.metricLatency({ statistic: Stats.p(99), period: Duration.minutes(5) }),
  threshold: SLOW_MS,
  evaluationPeriods: 3,
});

function throttles({ functions }: MonitoredResources): AlarmSettings[] {
  return Object.entries(functions).map(([name, fn]) => {
    const throttled = [fn.metricThrottles(), ...fn.tableThrottles.values()];
    return {
      id: `${pascalCase(name)}Throttles`,
      alarmDescription: `Lambda or DynamoDB throttled ${name}, in each of three periods of 5 minutes.`,
      // DynamoDB reports throttled requests only. PutMetricAlarm ignores missing data of AWS/DynamoDB, so an alarm could
      // keep its state: FILL leaves nothing missing.
      metric: new MathExpression({
        expression: throttled.map((_, n) => `FILL(m${n}, 0)`).join(" + "),
        usingMetrics: Object.fromEntries(throttled.map((metric, n) => [`m${n}`, metric])),
        period: Duration.minutes(5),
      }),
      evaluationPeriods: 3,
    };
  });
}

/** Returns the share of failures in all calls of a period. With fewer failures than `fewest` it is 0. */
export function failureRate(
  failures: IMetric,
  calls: IMetric,
  fewest: number,
  period: Duration,
): MathExpression {
  const expression = `IF(failures >= ${fewest}, failures / calls, 0)`;
  return new MathExpression({ expression, usingMetrics: { failures, calls }, period });
}
