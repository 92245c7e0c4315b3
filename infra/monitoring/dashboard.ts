import { Duration } from "aws-cdk-lib";
import { Dashboard, GraphWidget, type IMetric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import type { Api } from "../api/api.ts";
import type { Functions } from "../function-set.ts";
import { pascalCase } from "../names.ts";
import { dashboardName } from "./alarms.ts";
import { serverErrors } from "./stage-alarms.ts";

const period = Duration.minutes(1);

const graph = (title: string, left: IMetric[], right: IMetric[] = []) =>
  new GraphWidget({ width: 8, height: 6, title, left, right, leftYAxis: { min: 0 }, rightYAxis: { min: 0 } });

/** Adds the dashboard of a stage: traffic and errors first, then their causes. */
export function addDashboard(scope: Construct, api: Api, functions: Functions): void {
  const { restApi, accessLog } = api;
  const named = Object.entries(functions).map(([name, fn]) => [pascalCase(name), fn] as const);
  const requests = restApi.metricCount({ period, label: "all" });
  const served = accessLog.servedCount.with({ period, label: "served" });
  const errors = serverErrors(api).with({ period, label: "5xx" });
  const refusals = restApi.metricClientError({ period, label: "4xx" });
  const latency = accessLog.servedLatency.with({ period, label: "p99 of the served requests" });
  const durations = named.map(([label, fn]) => fn.metricDuration({ period, statistic: Stats.p(99), label }));
  const failures = named.map(([label, fn]) => fn.metricErrors({ period, label }));
  const throttles = named.map(([name, fn]) => fn.metricThrottles({ period, label: `${name} throttled` }));
  const tableThrottles = named.flatMap(([name, fn]) =>
    [...fn.tableThrottles].map(([call, metric]) => metric.with({ period, label: `${name}: ${call}` })),
  );
  new Dashboard(scope, "Dashboard", {
    dashboardName: dashboardName(scope),
    defaultInterval: Duration.hours(3),
    widgets: [
      [
        graph("Requests", [requests, served]),
        graph("Errors", [errors, refusals]),
        graph("Latency (ms)", [latency, ...durations]),
      ],
      [
        graph("Functions: errors, and throttles (right)", failures, throttles),
        graph("Tables: throttled requests", tableThrottles),
      ],
    ],
  });
}
