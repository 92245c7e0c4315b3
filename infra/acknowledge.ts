import { Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/**
 * Records why a rule of cdk-nag (pack AwsSolutions) does not apply to a construct and its children.
 *
 * @param finding the rule; a single finding of the rule follows in brackets
 * @param reason why the construct is right as it is, for reviewers
 */
export function acknowledge(construct: IConstruct, finding: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${finding}`, reason });
}
