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

/** Fewer failures in a window do not trigger, whatever their rate is. */
const MIN_FAILURES = { page: 12, notice: 20 };

/**
 * What counts as too few refusals while some requests get through: more than one client with an expired key makes in the
 * period, although it retries every 10 seconds.
 */
const MIN_REFUSALS = 200;

/** How long the alarms look back that compare the refused or blocked requests with all. */
const LOCKOUT_PERIOD = Duration.minutes(30);

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
interface AlarmSettings extends Partial<AlarmProps> {
  id: string;
  metric: IMetric;
  alarmDescription: string;
  /** the heading in docs/incidents.md of what to do */
  section: string;
  topic?: "page" | "notice";
}

/** The name of a stage's dashboard: dashboards have one namespace in all regions of an account. */
export function dashboardName(scope: Construct): string {
  const { stackName, region } = Stack.of(scope);
  return `${stackName}-${region}`;
}

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

  /**
   * Adds an alarm that notifies its topic when it is triggered. Missing data does not trigger it. The message has only the
   * description, so that ends with where to look.
   */
  add({ id, topic = "notice", section, alarmDescription, ...props }: AlarmSettings): Alarm {
    const alarm = new Alarm(this, id, {
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      threshold: 0,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
      alarmDescription: `${alarmDescription} See "${section}" in docs/incidents.md, and the dashboard ${dashboardName(this)}.`,
    });
    alarm.addAlarmAction(new SnsAction(this[topic]));
    return alarm;
  }

  /** Adds the alarms of a whole stage, which also notify when they end. A new alarm notifies once. */
  monitor(resources: MonitoredResources): void {
    const subjects = [serverErrors, refusals, blockedRequests, latency, throttles];
    for (const alarm of subjects.flatMap((subject) => subject(resources)))
      this.add(alarm).addOkAction(new SnsAction(this[alarm.topic ?? "notice"]));
  }
}

function serverErrors({ api }: MonitoredResources): AlarmSettings[] {
  return burnRates.map(({ hours, rate, topic }) => ({
    id: `ServerErrors${hours}h`,
    topic,
    alarmDescription: `In ${hours} h, 5xx came more than ${rate} times as fast as the objective allows.`,
    section: "Why did this request fail?",
    metric: failureRate(
      api.serverErrors,
      api.restApi.metricCount(),
      MIN_FAILURES[topic],
      Duration.hours(hours),
    ),
    threshold: rate * ERROR_BUDGET,
  }));
}

/**
 * Requests without a key of the right form do not count, because most are those of scanners, except when the stage is
 * throttled. AWS WAF blocks before API Gateway reads the key: blockedRequests has these.
 */
const refusals = ({ api: { accessLog } }: MonitoredResources): AlarmSettings => ({
  id: "Refusals",
  alarmDescription: "In 30 minutes, more than half of the requests with a key were refused.",
  section: "Why did this request fail?",
  metric: failureRate(
    accessLog.refusals,
    accessLog.requestsWithKey,
    `IF(calls > failures, ${MIN_REFUSALS}, ${MIN_FAILURES.notice})`,
    LOCKOUT_PERIOD,
  ),
  threshold: 0.5,
});

function blockedRequests({ webAcl }: MonitoredResources): AlarmSettings[] {
  if (!webAcl) return [];
  const { blocked, allowed } = webAcl;
  // Without FILL there would be no result, and no alarm, when it blocks everything.
  const expression = `IF(FILL(blocked, 0) >= ${MIN_FAILURES.notice}, FILL(blocked, 0) / (FILL(blocked, 0) + FILL(allowed, 0)), 0)`;
  return [
    {
      id: "BlockedRequests",
      alarmDescription: "In 30 minutes, AWS WAF blocked more than half of the requests.",
      section: "Under attack",
      metric: new MathExpression({ expression, usingMetrics: { blocked, allowed }, period: LOCKOUT_PERIOD }),
      threshold: 0.5,
    },
  ];
}

const latency = ({ api: { restApi } }: MonitoredResources): AlarmSettings => ({
  id: "HighLatency",
  alarmDescription: `The slowest 1 % of the responses took more than ${SLOW_MS / 1000} s, in each of three periods of 5 minutes.`,
  section: "Why did this request fail?",
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
      section: "Throttling and limits",
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

/** Returns the failures in a period divided by its calls, or 0 with fewer failures than `fewest`, which can be an expression. */
export function failureRate(
  failures: IMetric,
  calls: IMetric,
  fewest: number | string,
  period: Duration,
): MathExpression {
  const expression = `IF(failures >= ${fewest}, failures / calls, 0)`;
  return new MathExpression({ expression, usingMetrics: { failures, calls }, period });
}
