import { RemovalPolicy } from "aws-cdk-lib";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

/** A log group that keeps its lines for a month and is deleted with its stack. */
export class StageLog extends LogGroup {
  constructor(scope: Construct, id: string) {
    super(scope, id, { retention: RetentionDays.ONE_MONTH, removalPolicy: RemovalPolicy.DESTROY });
  }
}
