import { Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/**
 * Records why a rule of cdk-nag (pack AwsSolutions) does not apply to a construct and its children.
 *
 * @param finding the rule, such as IAM4, and in brackets one finding of it if the rule reports several
 * @param reason why the construct is correct, for reviewers
 */
export function acknowledge(construct: IConstruct, finding: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${finding}`, reason });
}
