import { RemovalPolicy } from "aws-cdk-lib";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

/** A log group that keeps its lines for a number of days and is deleted with its stack. */
export class StackLogGroup extends LogGroup {
  constructor(scope: Construct, id: string, retention: number) {
    super(scope, id, { retention, removalPolicy: RemovalPolicy.DESTROY });
  }
}
