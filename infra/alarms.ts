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
import type { Api, Functions } from "./api.ts";
import { deprecatedOperations } from "./deprecated.ts";
import { pascalCase } from "./pascal-case.ts";
import type { WebAcl } from "./web-acl.ts";

/** The share of the requests of 30 days that the objective for the availability allows to get a 5xx. */
export const ERROR_BUDGET = 0.001;

/**
 * How many times faster than the objective allows the 5xx of a window can come: 14.4 uses 2 % of the budget of 30 days in
 * an hour (The Site Reliability Workbook, "Alerting on SLOs"). There are no short windows: the metrics of an
 * alarm have one period, and a composite alarm costs more than both. An alarm can therefore end a window late.
 */
const burnRates = [
  { hours: 1, rate: 14.4 },
  { hours: 6, rate: 6 },
  { hours: 72, rate: 1 },
];

/** Fewer failures in a period are no reason to notify anybody, whatever their share is. */
const FEWEST_FAILURES = 20;

/** How long before the end of a deprecated operation its calls trigger an alarm. */
const NOTICE_DAYS = 90;

/** What the alarms and the dashboard show. */
export interface MonitoredResources {
  api: Api;
  functions: Functions;
  tables: Record<string, Table>;
  webAcl: WebAcl | undefined;
}

/** The alarms of a stage, and the topic that operators subscribe to. */
export class Alarms extends Construct {
  readonly topicArn: string;
  readonly #action: SnsAction;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    // CloudWatch cannot publish to a topic that is encrypted with an AWS managed key.
    const key = new Key(this, "Key", {
      enableKeyRotation: true,
      description: "Animal Store alarms",
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const topic = new Topic(this, "Topic", { masterKey: key, enforceSSL: true });
    // Without the conditions, the alarms of every AWS account could publish.
    const { partition, region, account } = Stack.of(this);
    const cloudWatch = new ServicePrincipal("cloudwatch.amazonaws.com", {
      conditions: {
        StringEquals: { "aws:SourceAccount": account },
        ArnLike: { "aws:SourceArn": `arn:${partition}:cloudwatch:${region}:${account}:alarm:*` },
      },
    });
    topic.grantPublish(cloudWatch); // and the use of its key
    this.#action = new SnsAction(topic);
    this.topicArn = topic.topicArn;
  }

  /**
   * Adds an alarm that notifies the topic when it is triggered. Missing data does not trigger it.
   *
   * @param props such as the threshold, 0 by default, that the metric has to exceed
   */
  add(id: string, props: Pick<AlarmProps, "metric"> & Partial<AlarmProps>): Alarm {
    const alarm = new Alarm(this, id, {
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      threshold: 0,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
    });
    alarm.addAlarmAction(this.#action);
    return alarm;
  }

  /**
   * Adds an alarm of the stage, which also notifies when it ends. An alarm of a version does not: a new alarm runs the
   * action of its first state.
   */
  watch(...[id, props]: Parameters<Alarms["add"]>): void {
    this.add(id, props).addOkAction(this.#action);
  }

  /** Adds the alarms of a whole stage. */
  monitor({ api: { restApi, accessLog }, functions }: MonitoredResources): void {
    const [requests, sums] = [restApi.metricCount(), { statistic: Stats.SUM }];
    for (const { hours, rate } of burnRates) {
      this.watch(`ServerErrors${hours}h`, {
        alarmDescription: `In ${hours} h, 5xx came ${rate} times faster than the objective allows.`,
        metric: share(restApi.metricServerError(sums), requests, FEWEST_FAILURES, Duration.hours(hours)),
        threshold: rate * ERROR_BUDGET,
      });
    }
    this.watch("ClientErrors", {
      alarmDescription: "More than half of the responses of each of 5 minutes were a 4xx.",
      metric: share(restApi.metricClientError(sums), requests, FEWEST_FAILURES, Duration.minutes(1)),
      threshold: 0.5,
      evaluationPeriods: 5,
    });
    const period = Duration.minutes(5);
    this.watch("HighLatency", {
      alarmDescription:
        "The slowest 1 % of the responses took more than 2 s, in each of three periods of 5 minutes.",
      metric: restApi.metricLatency({ statistic: Stats.p(99), period }),
      threshold: 2000,
      evaluationPeriods: 3,
    });
    for (const [name, fn] of Object.entries(functions)) {
      const throttles = [fn.metricThrottles(), ...fn.tableThrottles.map(({ metric }) => metric)];
      this.watch(`${pascalCase(name)}Throttles`, {
        alarmDescription: `Lambda or DynamoDB throttled ${name}, in each of three periods of 5 minutes.`,
        // DynamoDB reports throttled requests only. PutMetricAlarm ignores missing data of AWS/DynamoDB, so an alarm could
        // keep its state: FILL leaves nothing missing.
        metric: new MathExpression({
          expression: throttles.map((_, n) => `FILL(m${n}, 0)`).join(" + "),
          usingMetrics: Object.fromEntries(throttles.map((metric, n) => [`m${n}`, metric])),
          period,
        }),
        evaluationPeriods: 3,
      });
    }
    for (const { id, deprecation } of deprecatedOperations) {
      const noticeAt = deprecation.sunset.getTime() / 1000 - Duration.days(NOTICE_DAYS).toSeconds();
      this.watch(`${pascalCase(id)}DeprecatedCalls`, {
        alarmDescription: `Clients called ${id} today, less than ${NOTICE_DAYS} days before its end; the dashboard shows the keys.`,
        metric: new MathExpression({
          expression: `IF(EPOCH(calls) >= ${noticeAt}, FILL(calls, 0), 0)`,
          usingMetrics: { calls: accessLog.deprecatedCalls[id] },
          period: Duration.days(1),
        }),
      });
    }
  }
}

/**
 * Returns the share of failures in all calls of a period.
 *
 * @param fewest with fewer failures in the period it is 0
 */
export function share(failures: IMetric, calls: IMetric, fewest: number, period: Duration): MathExpression {
  const expression = `IF(failures >= ${fewest}, failures / calls, 0)`;
  return new MathExpression({ expression, usingMetrics: { failures, calls }, period });
}
