import { Duration } from "aws-cdk-lib";
import { MathExpression, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { Api } from "../api/api.ts";
import type { Functions } from "../function-set.ts";
import { pascalCase } from "../names.ts";
import type { Alarms } from "./alarms.ts";

/** The share of the requests of 30 days that the objective for the availability allows to get a 5xx. */
const ERROR_BUDGET = 0.001;
const SLOW_MS = 2000;

/**
 * The responses with a 5xx: the larger of two counts. The metric of API Gateway can lack the gateway responses whose status is
 * modified. Both can lack API Gateway's own failures (docs/aws-assumptions.md), which only the check from outside notices.
 */
export const serverErrors = ({ restApi, accessLog }: Api) =>
  new MathExpression({
    expression: "MAX([FILL(measured, 0), FILL(logged, 0)])",
    usingMetrics: {
      measured: restApi.metricServerError({ statistic: Stats.SUM }),
      logged: accessLog.loggedServerErrors,
    },
  });

/**
 * The share of the served requests that got a 5xx, or 0 if fewer than `atLeast` did. API Gateway's own count of requests also
 * has those that anybody can send without a key, which would hide the failures. If the access log stops, only the failures
 * count.
 */
const shareOfServerErrors = (api: Api, atLeast: number) =>
  new MathExpression({
    expression: `IF(failures >= ${atLeast}, failures / MAX([failures, FILL(served, 0)]), 0)`,
    usingMetrics: { failures: serverErrors(api), served: api.accessLog.servedCount },
  });

/** The alarm that the share of 5xx exceeds `rate` times the share that the objective allows. */
const serverErrorsAlarm = (api: Api, period: Duration, rate: number, atLeast: number) => {
  const threshold = rate * ERROR_BUDGET;
  const percent = (100 * threshold).toLocaleString("en");
  const says = (time: string) =>
    `Clients get errors: in ${time}, more than ${percent} % of the served requests, and at least ${atLeast}, got a 5xx.`;
  const metric = shareOfServerErrors(api, atLeast);
  return { metric, threshold, period, evaluationPeriods: 1, says, section: "ServerErrors" };
};

/** Adds the alarms of a whole stage. A notice says that an alarm has ended, or that a new alarm is OK. */
export function addStageAlarms(alarms: Alarms, api: Api, functions: Functions): void {
  const { page, notice } = alarms;
  const all = [
    // 14.4 times the rate that the objective allows uses 2 % of the budget of 30 days in an hour (The Site Reliability
    // Workbook, "Alerting on SLOs").
    alarms.add("ServerErrors1h", { ...serverErrorsAlarm(api, Duration.hours(1), 14.4, 12), topic: page }),
    alarms.add("ServerErrors3d", { ...serverErrorsAlarm(api, Duration.days(3), 1, 20), topic: notice }),
    alarms.add("SlowResponses", {
      metric: api.accessLog.servedLatency,
      threshold: SLOW_MS,
      period: Duration.minutes(5),
      evaluationPeriods: 3,
      topic: notice,
      says: (time) =>
        `Responses are slow: for ${time}, more than 1 % of the served requests took more than ${SLOW_MS / 1000} s.`,
      section: "SlowResponses",
    }),
    ...Object.entries(functions).map(([name, fn]) => {
      const throttles = [fn.metricThrottles(), ...fn.tableThrottles.values()];
      return alarms.add(`${pascalCase(name)}Throttles`, {
        // DynamoDB reports throttled requests only. PutMetricAlarm ignores missing data of AWS/DynamoDB, so an alarm could
        // keep its state: FILL leaves nothing missing.
        metric: new MathExpression({
          expression: `SUM([${throttles.map((_, n) => `FILL(m${n}, 0)`).join(", ")}])`,
          usingMetrics: Object.fromEntries(throttles.map((metric, n) => [`m${n}`, metric])),
        }),
        threshold: 0,
        period: Duration.minutes(5),
        evaluationPeriods: 3,
        topic: notice,
        says: (time) => `Lambda or DynamoDB has throttled ${pascalCase(name)} for ${time}.`,
        section: "Throttles",
      });
    }),
  ];
  for (const alarm of all) alarm.addOkAction(new SnsAction(notice));
}
