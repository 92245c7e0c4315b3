import { Duration, Stack } from "aws-cdk-lib";
import { Dashboard, GraphWidget, type IMetric, MathExpression } from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import type { MonitoredResources } from "./alarms.ts";

/** Adds what an operator needs during a deployment: traffic and errors first, then where they come from. */
export function addDashboard(
  scope: Construct,
  { api, functions, tables, deprecated }: MonitoredResources,
): void {
  const period = Duration.minutes(1);
  const graph = (title: string, left: IMetric[], right: IMetric[] = []) =>
    new GraphWidget({
      title,
      left,
      right,
      width: 8,
      height: 6,
      leftYAxis: { min: 0 },
      rightYAxis: { min: 0 },
    });
  const metrics = <T>(parts: Record<string, T>, metric: (part: T, label: string) => IMetric) =>
    Object.entries(parts).map(([label, part]) => metric(part, label));

  new Dashboard(scope, "Dashboard", {
    dashboardName: Stack.of(scope).stackName,
    defaultInterval: Duration.hours(3),
    widgets: [
      [
        graph("Requests", [api.metricCount({ period, label: "all" })]),
        graph("Errors", [
          api.metricServerError({ period, statistic: "sum", label: "5xx" }),
          api.metricClientError({ period, statistic: "sum", label: "4xx" }),
        ]),
        graph("Latency (ms)", [
          api.metricLatency({ period, statistic: "p50", label: "p50" }),
          api.metricLatency({ period, statistic: "p99", label: "p99" }),
        ]),
      ],
      [
        graph(
          "Functions: errors and throttles",
          metrics(functions, (part, label) => part.metricErrors({ period, label })),
          metrics(functions, (part, label) => part.metricThrottles({ period, label: `${label} throttled` })),
        ),
        graph(
          "Functions: duration p99 (ms)",
          metrics(functions, (part, label) => part.metricDuration({ period, statistic: "p99", label })),
        ),
        graph(
          "Functions: calls",
          metrics(functions, (part, label) => part.metricInvocations({ period, label })),
        ),
      ],
      [
        graph(
          "Tables: consumed capacity",
          metrics(tables, (part, label) =>
            part.metricConsumedReadCapacityUnits({ period, label: `${label} read` }),
          ),
          metrics(tables, (part, label) =>
            part.metricConsumedWriteCapacityUnits({ period, label: `${label} write` }),
          ),
        ),
        graph(
          "Tables: throttled requests",
          Object.entries(functions).flatMap(([name, fn]) =>
            fn.tableThrottles.map(({ table, operation, metric }) =>
              metric.with({ label: `${name}: ${operation} on ${table}` }),
            ),
          ),
        ),
        graph("Deprecated getPet: calls an hour by key", [
          new MathExpression({ expression: deprecated.byKey, label: "", period: Duration.hours(1) }),
        ]),
      ],
    ],
  });
}
