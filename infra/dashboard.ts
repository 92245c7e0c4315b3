import { Duration, Stack } from "aws-cdk-lib";
import { Dashboard, GraphWidget, type IMetric, MathExpression } from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import type { Watched } from "./alarms.ts";

/** What an operator wants to see during a deployment: traffic and errors first, then where they come from. */
export function addDashboard(
  scope: Construct,
  { api, functions, tables, dataThrottles, deprecated }: Watched,
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
  const each = <T>(parts: Record<string, T>, metric: (part: T, label: string) => IMetric) =>
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
          each(functions, (part, label) => part.metricErrors({ period, label })),
          each(functions, (part, label) => part.metricThrottles({ period, label: `${label} throttled` })),
        ),
        graph(
          "Functions: duration p99 (ms)",
          each(functions, (part, label) => part.metricDuration({ period, statistic: "p99", label })),
        ),
        graph(
          "Functions: calls",
          each(functions, (part, label) => part.metricInvocations({ period, label })),
        ),
      ],
      [
        graph(
          "Tables: consumed capacity",
          each(tables, (part, label) =>
            part.metricConsumedReadCapacityUnits({ period, label: `${label} read` }),
          ),
          each(tables, (part, label) =>
            part.metricConsumedWriteCapacityUnits({ period, label: `${label} write` }),
          ),
        ),
        graph(
          "Tables: throttled requests",
          each(dataThrottles, (metric, label) => metric.with({ label })),
        ),
        graph("Deprecated getPet: calls an hour by key", [
          new MathExpression({ expression: deprecated.byKey, label: "", period: Duration.hours(1) }),
        ]),
      ],
    ],
  });
}
