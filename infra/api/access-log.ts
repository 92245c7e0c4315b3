import { Stack } from "aws-cdk-lib";
import { type Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type IFilterPattern, LogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { contextVariable } from "../../lib/caller.ts";
import { removalPolicyOf } from "../removal-policy.ts";
import type { Stage } from "../stages.ts";

/**
 * One line per request: who called what, with which result, how long it took (milliseconds), and the ids of the
 * Lambda invocations, which are the `requestId` of the functions' own lines. A client can choose the `requestId`, as a UUID in
 * `x-amzn-RequestId`, and nobody the `extendedRequestId`. `sourceIp` is that of the connection, not of `X-Forwarded-For`.
 *
 * `integrationStatus` is Lambda's own, such as 429 if it throttles. `$context.integration.status` would be the status that the
 * function returned, which is `status`.
 *
 * It leaves out the variables that can repeat what the client sent: headers, query parameters,
 * `$context.error.message`, `$context.integration.error` and `$context.authorizer.error`, which have the message of what a
 * function threw, and `$context.xrayTraceId`, which a client sets with `X-Amzn-Trace-Id`.
 */
export const ACCESS_LOG_FORMAT = JSON.stringify({
  requestId: "$context.requestId",
  extendedRequestId: "$context.extendedRequestId",
  requestTime: "$context.requestTime",
  sourceIp: "$context.identity.sourceIp",
  keyId: `$context.${contextVariable("keyId")}`,
  route: "$context.httpMethod $context.resourcePath",
  status: "$context.status",
  latencyMs: "$context.responseLatency",
  integrationLatencyMs: "$context.integrationLatency",
  integrationStatus: "$context.integration.integrationStatus",
  integrationRequestId: "$context.integration.requestId",
  authorizerLatencyMs: "$context.authorizer.latency",
  authorizerRequestId: "$context.authorizer.requestId",
  error: "$context.error.responseType",
}).replace('"$context.responseLatency"', "$context.responseLatency"); // a number, which a metric can have as its value

const { all, any, numberValue, stringValue } = FilterPattern;

/** The access log of an API, and the metrics that CloudWatch takes from its lines. */
export class AccessLog extends Construct {
  readonly logGroup: LogGroup;
  /** the number of responses with a 5xx */
  readonly loggedServerErrors: Metric;
  /** the number of requests that a function served or should have served: a 5xx, or a valid key with the scope */
  readonly servedCount: Metric;
  /** the time that all but 1 % of the served requests took at most, in milliseconds */
  readonly servedLatency: Metric;

  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id);
    const logs = { retention: stage.logRetentionDays, removalPolicy: removalPolicyOf(stage) };
    this.logGroup = new LogGroup(this, "Log", logs);
    const serverError = stringValue("$.status", "=", "5*");
    // A refused key also has a `keyId` (lib/caller.ts), so 401 does not count. A mock integration sends the 405.
    const accepted = ["401", "403", "405", "429"].map((status) => stringValue("$.status", "!=", status));
    const served = any(serverError, all(stringValue("$.keyId", "!=", "-"), ...accepted));
    this.loggedServerErrors = this.#measure("ServerErrors", serverError, "1").with({ statistic: Stats.SUM });
    // A pattern has to name the field that is the value.
    const value = "$.latencyMs";
    const timed = all(numberValue(value, ">=", 0), served);
    this.servedLatency = this.#measure("ServedLatency", timed, value).with({ statistic: Stats.p(99) });
    this.servedCount = this.servedLatency.with({ statistic: Stats.SAMPLE_COUNT });
  }

  /** Takes a value from each line that matches a pattern. */
  #measure(metricName: string, filterPattern: IFilterPattern, metricValue: string): Metric {
    const metricNamespace = `AnimalStore/${Stack.of(this).stackName}`;
    const { logGroup } = this;
    const props = { logGroup, filterPattern, metricNamespace, metricName, metricValue };
    return new MetricFilter(this, metricName, props).metric();
  }
}
