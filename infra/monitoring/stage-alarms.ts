import { Duration } from "aws-cdk-lib";
import { MathExpression, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { Api } from "../api/api.ts";
import type { WebAcl } from "../api/web-acl.ts";
import type { Functions } from "../function-set.ts";
import { pascalCase } from "../names.ts";
import { type AlarmSettings, type Alarms, failureRate, SLOW_MS } from "./alarms.ts";

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
 * The fewest refusals that count while other requests succeed: one client with an expired key that retries every 10 s
 * makes fewer.
 */
const MIN_REFUSALS = 200;

/** How long the alarms look back that compare the refused or blocked requests with all. */
const LOCKOUT_PERIOD = Duration.minutes(30);

/** What the alarms and the dashboard show. */
export interface MonitoredResources {
  api: Api;
  functions: Functions;
  tables: Record<string, Table>;
  webAcl: WebAcl | undefined;
}

/** Adds the alarms of a whole stage, which also notify when they end. A new alarm notifies once. */
export function addStageAlarms(alarms: Alarms, resources: MonitoredResources): void {
  const subjects = [serverErrors, refusals, blockedRequests, latency, throttles];
  for (const alarm of subjects.flatMap((subject) => subject(resources)))
    alarms.add(alarm).addOkAction(new SnsAction(alarms[alarm.topic ?? "notice"]));
}

function serverErrors({ api }: MonitoredResources): AlarmSettings[] {
  return burnRates.map(({ hours, rate, topic }) => ({
    id: `ServerErrors${hours}h`,
    topic,
    alarmDescription: `In ${hours} h, 5xx came at more than ${rate} × the rate that the objective allows.`,
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
  const alarm = {
    id: "BlockedRequests",
    alarmDescription: "In 30 minutes, AWS WAF blocked more than half of the requests.",
    section: "Under attack",
    metric: new MathExpression({ expression, usingMetrics: { blocked, allowed }, period: LOCKOUT_PERIOD }),
    threshold: 0.5,
  };
  return [alarm];
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
