import type { Metric, MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { getPet } from "../lib/operations.ts";
import type { ApiFunction } from "./api-function.ts";

/** Counts the calls of the deprecated operation by key, from the function's log. */
export class DeprecatedCalls extends Construct {
  /** a search expression that returns the calls by key, for the dashboard */
  readonly byKey: string;
  readonly #function: ApiFunction;

  constructor(scope: Construct, id: string, deprecated: ApiFunction) {
    super(scope, id);
    this.#function = deprecated;
    const namespace = `AnimalStore/${scope.node.id}`;
    new MetricFilter(this, "Filter", {
      logGroup: deprecated.logGroup,
      filterPattern: FilterPattern.stringValue("$.message.operation", "=", getPet.id),
      metricNamespace: namespace,
      metricName: id,
      metricValue: "1",
      dimensions: { keyId: "$.message.keyId" },
    });
    this.byKey = `SEARCH('{"${namespace}",keyId} MetricName="${id}"', 'Sum', 3600)`;
  }

  /** Counts the calls with any key. */
  metric(options: MetricOptions): Metric {
    return this.#function.metricInvocations(options);
  }
}
