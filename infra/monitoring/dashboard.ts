import { Duration } from "aws-cdk-lib";
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  Metric,
  SingleValueWidget,
  Stats,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import { ERROR_BUDGET } from "./alarm-definitions.ts";
import { dashboardName } from "./alarms.ts";
import type { MonitoredResources } from "./stage-alarms.ts";

const period = Duration.minutes(1);
const size = { width: 8, height: 6 };

const graph = (title: string, left: IMetric[], right: IMetric[] = []): IWidget =>
  new GraphWidget({ ...size, title, left, right, leftYAxis: { min: 0 }, rightYAxis: { min: 0 } });

/** Adds the dashboard of a stage: traffic and errors first, then their causes. */
export function addDashboard(scope: Construct, resources: MonitoredResources): void {
  new Dashboard(scope, "Dashboard", {
    dashboardName: dashboardName(scope),
    defaultInterval: Duration.hours(3),
    widgets: [traffic, operations, functionUse, tableUse, firewall].map((row) => row(resources)),
  });
}

function traffic({ api: { restApi, accessLog, serverErrors } }: MonitoredResources): IWidget[] {
  const latencies = ["p50", "p99"].map((label) => restApi.metricLatency({ period, statistic: label, label }));
  return [
    graph("Requests", [
      restApi.metricCount({ period, label: "all" }),
      accessLog.lines.with({ period, label: "in the access log" }),
    ]),
    graph("Errors", [
      serverErrors.with({ period, label: "5xx" }),
      restApi.metricClientError({ period, label: "4xx" }),
      accessLog.refused.with({ period, label: "refused, of those with a key or throttled" }),
    ]),
    graph("Latency (ms)", latencies),
  ];
}

function operations({ api, functions }: MonitoredResources): IWidget[] {
  const { accessLog, serverErrors: errors, servedRequests: requests } = api;
  const durations = Object.entries(functions).map(([label, fn]) =>
    fn.metricDuration({ period, statistic: Stats.p(99), label }),
  );
  const availability = new MathExpression({
    expression: "100 * (1 - errors / requests)",
    label: "served requests without a 5xx",
    period,
    usingMetrics: { errors, requests },
  });
  const byRoute = new MathExpression({ expression: accessLog.serverErrorsByRoute, label: "", period });
  return [
    graph("5xx by route", [byRoute]),
    graph("p99 by operation (ms, in the function)", durations),
    new SingleValueWidget({
      ...size,
      title: `Availability over the time shown (%); objective ${100 * (1 - ERROR_BUDGET)} over 30 days`,
      setPeriodToTimeRange: true,
      metrics: [availability],
    }),
  ];
}

function functionUse({ functions }: MonitoredResources): IWidget[] {
  const named = Object.entries(functions);
  const calls = named.map(([label, fn]) => fn.metricInvocations({ period, label }));
  const errors = named.map(([label, fn]) => fn.metricErrors({ period, label }));
  const throttles = named.map(([name, fn]) => fn.metricThrottles({ period, label: `${name} throttled` }));
  // Without dimensions: all functions of the account and region.
  const used = new Metric({
    namespace: "AWS/Lambda",
    metricName: "ConcurrentExecutions",
    statistic: Stats.MAXIMUM,
    period,
    label: "running at once",
  });
  const expression = "SERVICE_QUOTA(used)";
  const quota = new MathExpression({ expression, label: "quota", period, usingMetrics: { used } });
  return [
    graph("Functions: calls", calls),
    graph("Functions: errors and throttles", errors, throttles),
    graph("Concurrency of the account, and its quota", [used, quota]),
  ];
}

function tableUse({ functions, tables }: MonitoredResources): IWidget[] {
  const named = Object.entries(tables);
  const throttles = Object.entries(functions).flatMap(([name, fn]) =>
    [...fn.tableThrottles].map(([label, metric]) => metric.with({ period, label: `${name}: ${label}` })),
  );
  const read = named.map(([name, table]) =>
    table.metricConsumedReadCapacityUnits({ period, label: `${name} read` }),
  );
  const written = named.map(([name, table]) =>
    table.metricConsumedWriteCapacityUnits({ period, label: `${name} write` }),
  );
  return [graph("Tables: consumed capacity", read, written), graph("Tables: throttled requests", throttles)];
}

function firewall({ webAcl }: MonitoredResources): IWidget[] {
  if (!webAcl) return [];
  const blocked = webAcl.blockedByRule.map((metric) => metric.with({ period }));
  const allowed = webAcl.allowed.with({ period, label: "allowed" });
  return [graph("Requests that AWS WAF blocked, and allowed (right)", blocked, [allowed])];
}
