import { Stack } from "aws-cdk-lib";
import { FilterPattern, type IFilterPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { getPet } from "../lib/operations.ts";
import { StageLog } from "./stage-log.ts";

/**
 * One line per request: who called what, with which result, how long it took (milliseconds), and the ids of the
 * Lambda invocations, which are the `requestId` of the functions' own lines.
 *
 * It leaves out the variables that can repeat what the client sent: headers, query parameters,
 * `$context.error.message`, and `$context.xrayTraceId`, which a client sets with `X-Amzn-Trace-Id`.
 */
export const ACCESS_LOG_FORMAT = JSON.stringify({
  requestId: "$context.requestId",
  requestTime: "$context.requestTime",
  keyId: "$context.authorizer.keyId",
  operation: "$context.httpMethod $context.resourcePath",
  status: "$context.status",
  latency: "$context.responseLatency",
  integrationLatency: "$context.integrationLatency",
  integrationStatus: "$context.integration.status",
  integrationRequestId: "$context.integration.requestId",
  authorizerLatency: "$context.authorizer.latency",
  authorizerRequestId: "$context.authorizer.requestId",
  authorizerError: "$context.authorizer.error",
  error: "$context.error.responseType",
});

/** The access log of an API, and the metrics that CloudWatch counts from its lines. */
export class AccessLog extends Construct {
  readonly logGroup: StageLog;
  /** a search expression for the dashboard: the 5xx responses of a minute by operation */
  readonly serverErrorsByOperation: string;
  /** a search expression for the dashboard: the calls of the deprecated operation in an hour by key */
  readonly deprecatedCallsByKey: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.logGroup = new StageLog(this, "Log");
    const serverErrors = FilterPattern.stringValue("$.status", "=", "5*");
    this.serverErrorsByOperation = this.#count("ServerErrors", serverErrors, "operation", 60);
    const deprecatedCalls = FilterPattern.all(
      FilterPattern.stringValue("$.operation", "=", `${getPet.method} ${getPet.path}`),
      FilterPattern.stringValue("$.keyId", "!=", "-"), // refused before the authorizer identified a key
    );
    this.deprecatedCallsByKey = this.#count("DeprecatedCalls", deprecatedCalls, "keyId", 3600);
  }

  /**
   * Counts the lines that match a pattern, by one of their fields.
   *
   * @returns a search expression for the sums of `period` seconds
   */
  #count(metricName: string, filterPattern: IFilterPattern, field: string, period: number): string {
    const metricNamespace = `AnimalStore/${Stack.of(this).stackName}`;
    new MetricFilter(this, metricName, {
      logGroup: this.logGroup,
      filterPattern,
      metricNamespace,
      metricName,
      metricValue: "1",
      dimensions: { [field]: `$.${field}` },
    });
    return `SEARCH('{"${metricNamespace}",${field}} MetricName="${metricName}"', 'Sum', ${period})`;
  }
}
