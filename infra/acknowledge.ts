import { Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/**
 * Records why a rule of cdk-nag (pack AwsSolutions) does not apply to a construct and what is below it.
 *
 * @param finding the rule, and in brackets the one finding of it that is meant
 * @param reason why this is as it should be, for the reader of a review
 */
export function acknowledge(construct: IConstruct, finding: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${finding}`, reason });
}
