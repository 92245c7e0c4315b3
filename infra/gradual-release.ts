import { Duration } from "aws-cdk-lib";
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import type { Construct } from "constructs";
import { acknowledge } from "./acknowledge.ts";
import { type Alarms, releaseAlarms } from "./alarms.ts";
import type { ApiFunction } from "./api-function.ts";

/**
 * Puts each function behind an alias, to which CodeDeploy shifts new code: 10 % of the calls for 5 minutes,
 * then all of them, or back to the old code when one of the function's alarms goes off.
 *
 * @returns the releases, for alarms of what they are part of
 */
export function releaseGradually(
  scope: Construct,
  functions: Record<string, ApiFunction>,
  alarms: Alarms,
): LambdaDeploymentGroup[] {
  const application = new LambdaApplication(scope, "Releases");
  return Object.entries(functions).map(([name, each]) => {
    const alias = each.addLiveAlias();
    const period = Duration.minutes(1);
    const release = new LambdaDeploymentGroup(scope, `${each.node.id}Release`, {
      application,
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: releaseAlarms(alarms, name, {
        errors: alias.metricErrors({ period }),
        p99: alias.metricDuration({ period, statistic: "p99" }),
      }),
    });
    acknowledge(
      release,
      "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]",
      "CodeDeploy's own policy for Lambda, in its limited form, is what AWS keeps right for its service.",
    );
    return release;
  });
}
