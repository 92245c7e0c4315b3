import { Duration, Stack } from "aws-cdk-lib";
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
import type { MonitoredResources } from "./alarms.ts";

/** The objective for the share of requests without a 5xx over 30 days, in percent. */
export const AVAILABILITY_OBJECTIVE = 99.9;

const period = Duration.minutes(1);
const size = { width: 8, height: 6 };

const graph = (title: string, left: IMetric[], right: IMetric[] = []): IWidget =>
  new GraphWidget({ ...size, title, left, right, leftYAxis: { min: 0 }, rightYAxis: { min: 0 } });

/** Draws the metrics that a search expression finds. */
const searchGraph = (title: string, expression: string, searchPeriod: Duration): IWidget =>
  graph(title, [new MathExpression({ expression, label: "", period: searchPeriod })]);

/** One metric per part, labelled with the part's name. */
const perName = <T>(parts: Record<string, T>, metric: (part: T, label: string) => IMetric): IMetric[] =>
  Object.entries(parts).map(([label, part]) => metric(part, label));

/** Adds the dashboard of a stage: traffic and errors first, then their causes. */
export function addDashboard(scope: Construct, resources: MonitoredResources): void {
  new Dashboard(scope, "Dashboard", {
    dashboardName: Stack.of(scope).stackName,
    defaultInterval: Duration.hours(3),
    widgets: [
      traffic(resources),
      operations(resources),
      functionUse(resources),
      tableUse(resources),
      refusals(resources),
    ],
  });
}

function traffic({ api: { restApi } }: MonitoredResources): IWidget[] {
  const errors = restApi.metricServerError({ period, statistic: Stats.SUM, label: "5xx" });
  return [
    graph("Requests", [restApi.metricCount({ period, label: "all" })]),
    graph("Errors", [errors, restApi.metricClientError({ period, statistic: Stats.SUM, label: "4xx" })]),
    graph("Latency (ms)", [
      restApi.metricLatency({ period, statistic: Stats.p(50), label: "p50" }),
      restApi.metricLatency({ period, statistic: Stats.p(99), label: "p99" }),
    ]),
  ];
}

function operations({ api, functions }: MonitoredResources): IWidget[] {
  const { restApi, accessLog } = api;
  const sums = { period, statistic: Stats.SUM };
  return [
    searchGraph("5xx by operation", accessLog.serverErrorsByOperation, period),
    graph(
      "p99 by operation (ms, in the function)",
      perName(functions, (fn, label) => fn.metricDuration({ period, statistic: Stats.p(99), label })),
    ),
    new SingleValueWidget({
      ...size,
      title: `Availability over the time shown (%); objective ${AVAILABILITY_OBJECTIVE} over 30 days`,
      setPeriodToTimeRange: true,
      metrics: [
        new MathExpression({
          expression: "100 * (1 - errors / requests)",
          label: "requests without a 5xx",
          period,
          usingMetrics: { errors: restApi.metricServerError(sums), requests: restApi.metricCount(sums) },
        }),
      ],
    }),
  ];
}

function functionUse({ functions }: MonitoredResources): IWidget[] {
  // Without dimensions: all functions of the account and region.
  const used = new Metric({
    namespace: "AWS/Lambda",
    metricName: "ConcurrentExecutions",
    statistic: Stats.MAXIMUM,
    period,
    label: "running at once",
  });
  return [
    graph(
      "Functions: calls",
      perName(functions, (fn, label) => fn.metricInvocations({ period, label })),
    ),
    graph(
      "Functions: errors and throttles",
      perName(functions, (fn, label) => fn.metricErrors({ period, label })),
      perName(functions, (fn, label) => fn.metricThrottles({ period, label: `${label} throttled` })),
    ),
    graph("Concurrency of the account, and its quota", [
      used,
      new MathExpression({
        expression: "SERVICE_QUOTA(used)",
        label: "quota",
        period,
        usingMetrics: { used },
      }),
    ]),
  ];
}

function tableUse({ functions, tables }: MonitoredResources): IWidget[] {
  return [
    graph(
      "Tables: consumed capacity",
      perName(tables, (table, label) =>
        table.metricConsumedReadCapacityUnits({ period, label: `${label} read` }),
      ),
      perName(tables, (table, label) =>
        table.metricConsumedWriteCapacityUnits({ period, label: `${label} write` }),
      ),
    ),
    graph(
      "Tables: throttled requests",
      Object.entries(functions).flatMap(([name, fn]) =>
        fn.tableThrottles.map(({ table, operation, metric }) =>
          metric.with({ period, label: `${name}: ${operation} on ${table}` }),
        ),
      ),
    ),
  ];
}

function refusals({ api, firewall }: MonitoredResources): IWidget[] {
  return [
    searchGraph(
      "Deprecated getPet: calls an hour by key",
      api.accessLog.deprecatedCallsByKey,
      Duration.hours(1),
    ),
    ...(firewall
      ? [
          graph(
            "Requests that the firewall blocked",
            firewall.blockedRequests.map((metric) => metric.with({ period })),
          ),
        ]
      : []),
  ];
}
