import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type IFilterPattern, LogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { contextVariable } from "../../lib/caller.ts";

/**
 * One line per request: who called what, with which result, how long it took (milliseconds), and the ids of the
 * Lambda invocations, which are the `requestId` of the functions' own lines. A client can choose the `requestId`, as a UUID in
 * `x-amzn-RequestId`, and nobody the `extendedRequestId`. `sourceIp` is that of the connection, not of `X-Forwarded-For`.
 *
 * `integrationStatus` is Lambda's own, such as 429 if it throttles. `$context.integration.status` would be the status that the
 * function returned, which is `status`.
 *
 * It leaves out the variables that can repeat what the client sent: headers, query parameters,
 * `$context.error.message`, `$context.integration.error`, which has the message of what a function threw, and
 * `$context.xrayTraceId`, which a client sets with `X-Amzn-Trace-Id`.
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
  authorizerError: "$context.authorizer.error",
  error: "$context.error.responseType",
});

const { all, any, stringValue } = FilterPattern;

/** The access log of an API, and the metrics that CloudWatch counts from its lines. */
export class AccessLog extends Construct {
  readonly logGroup: LogGroup;
  /** its lines. `metricIncomingLogEvents` of the CDK has a name that CloudWatch does not know, and no log group */
  readonly lines: Metric;
  /** the responses with a 5xx */
  readonly loggedServerErrors: Metric;
  /** the requests that a function served or should have served: a 5xx, or a valid key with the scope */
  readonly served: Metric;
  /** the others that had a key of the right form or were throttled: the key is invalid or lacks the scope, or a 429 */
  readonly refused: Metric;
  /** a search expression for the dashboard: the 5xx responses of a minute by route */
  readonly serverErrorsByRoute: string;
  readonly #namespace = `AnimalStore/${Stack.of(this).stackName}`;

  constructor(scope: Construct, id: string, retention: number) {
    super(scope, id);
    this.logGroup = new LogGroup(this, "Log", { retention, removalPolicy: RemovalPolicy.DESTROY });
    this.lines = new Metric({
      namespace: "AWS/Logs",
      metricName: "IncomingLogEvents",
      dimensionsMap: { LogGroupName: this.logGroup.logGroupName },
      statistic: Stats.SUM,
    });
    const serverError = stringValue("$.status", "=", "5*");
    this.loggedServerErrors = this.#count("ServerErrors", serverError, "ServerErrors");
    this.#count("ServerErrorsByRoute", serverError, "ServerErrors", "route");
    this.serverErrorsByRoute = `SEARCH('{"${this.#namespace}",route} MetricName="ServerErrors"', 'Sum', 60)`;

    // A key that is revoked or unknown also has a `keyId` (lib/caller.ts). A mock integration sends the 405.
    const accepted = ["401", "403", "405", "429"].map((status) => stringValue("$.status", "!=", status));
    const withKey = all(stringValue("$.keyId", "!=", "-"), ...accepted);
    this.served = this.#count("Served", any(serverError, withKey), "Served");
    // API Gateway can log these without the `keyId`, and also throttles requests without a key. A missing or malformed key
    // is UNAUTHORIZED.
    const refused = ["ACCESS_DENIED", "THROTTLED"].map((type) => stringValue("$.error", "=", type));
    const withoutScope = stringValue("$.status", "=", "403");
    this.refused = this.#count("Refusals", any(withoutScope, ...refused), "Refusals");
  }

  /** Counts the lines that match a pattern, by one of their fields if it is given. */
  #count(id: string, filterPattern: IFilterPattern, metricName: string, field?: string): Metric {
    const filter = new MetricFilter(this, id, {
      logGroup: this.logGroup,
      filterPattern,
      metricNamespace: this.#namespace,
      metricName,
      metricValue: "1",
      // A metric with dimensions cannot have a default value.
      ...(field === undefined ? { defaultValue: 0 } : { dimensions: { [field]: `$.${field}` } }),
    });
    return filter.metric({ statistic: Stats.SUM });
  }
}
