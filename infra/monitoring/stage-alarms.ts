import { MathExpression, type Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { Api } from "../api/api.ts";
import type { WebAcl } from "../api/web-acl.ts";
import type { Functions } from "../function-set.ts";
import type { AlarmDefinition } from "./alarm-definitions.ts";
import * as definitions from "./alarm-definitions.ts";
import { type Alarms, failureRate } from "./alarms.ts";

/** What the alarms and the dashboard show. */
export interface MonitoredResources {
  api: Api;
  functions: Functions;
  tables: Record<string, Table>;
  webAcl: WebAcl | undefined;
}

/** An alarm and what it measures. */
type StageAlarm = [definition: AlarmDefinition, metric: Metric | MathExpression];

/** Adds the alarms of a whole stage, which also notify when they end. A new alarm notifies once. */
export function addStageAlarms(alarms: Alarms, resources: MonitoredResources): void {
  const parts = [errorBudget, refusals, blockedRequests, unloggedRequests, latency, throttles];
  for (const [definition, metric] of parts.flatMap((part) => part(resources)))
    alarms.add(definition, metric).addOkAction(new SnsAction(alarms[definition.topic]));
}

function errorBudget({ api }: MonitoredResources): StageAlarm[] {
  return definitions.burnRateAlarms.map((definition) => [
    definition,
    failureRate(definition, api.serverErrors, api.servedRequests),
  ]);
}

/**
 * Requests without a key of the right form do not count, because most are those of scanners, except when the stage is
 * throttled. AWS WAF blocks before API Gateway reads the key: blockedRequests has these.
 */
function refusals({ api: { accessLog } }: MonitoredResources): StageAlarm[] {
  const { served, refused } = accessLog;
  const calls = new MathExpression({
    expression: "served + failures",
    usingMetrics: { served, failures: refused },
  });
  return [[definitions.refusals, failureRate(definitions.refusals, refused, calls)]];
}

function blockedRequests({ webAcl }: MonitoredResources): StageAlarm[] {
  if (!webAcl) return [];
  const { blocked, allowed } = webAcl;
  const { atLeast } = definitions.blockedRequests;
  // Without FILL there would be no result, and no alarm, when it blocks everything.
  const expression = `IF(FILL(blocked, 0) >= ${atLeast}, FILL(blocked, 0) / (FILL(blocked, 0) + FILL(allowed, 0)), 0)`;
  const metric = new MathExpression({ expression, usingMetrics: { blocked, allowed } });
  return [[definitions.blockedRequests, metric]];
}

/** Whoever replaces or removes the account's role for the logs of API Gateway stops the access log in silence. */
function unloggedRequests({ api: { accessLog, restApi } }: MonitoredResources): StageAlarm[] {
  const metric = new MathExpression({
    expression: "IF(FILL(lines, 0) > 0, 0, FILL(requests, 0))",
    usingMetrics: { lines: accessLog.lines, requests: restApi.metricCount() },
  });
  return [[definitions.unloggedRequests, metric]];
}

function latency({ api: { restApi } }: MonitoredResources): StageAlarm[] {
  return [[definitions.highLatency, restApi.metricLatency({ statistic: Stats.p(99) })]];
}

function throttles({ functions }: MonitoredResources): StageAlarm[] {
  return Object.entries(functions).map(([name, fn]) => {
    const throttled = [fn.metricThrottles(), ...fn.tableThrottles.values()];
    // DynamoDB reports throttled requests only. PutMetricAlarm ignores missing data of AWS/DynamoDB, so an alarm could
    // keep its state: FILL leaves nothing missing.
    const metric = new MathExpression({
      expression: throttled.map((_, n) => `FILL(m${n}, 0)`).join(" + "),
      usingMetrics: Object.fromEntries(throttled.map((metric, n) => [`m${n}`, metric])),
    });
    return [definitions.throttles(name), metric];
  });
}
