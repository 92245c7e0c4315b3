import { Duration } from "aws-cdk-lib";
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import type { Construct } from "constructs";
import { acknowledge } from "./acknowledge.ts";
import { type Alarms, addReleaseAlarms } from "./alarms.ts";
import type { ApiFunction } from "./api-function.ts";

/**
 * Puts each function behind an alias, to which CodeDeploy shifts new code: 10 % of the calls for 5 minutes, then all of
 * them. When an alarm of the function goes off meanwhile, the old code takes all calls again.
 *
 * @returns the releases, so that alarms about the whole API can be added
 */
export function releaseGradually(
  scope: Construct,
  functions: Record<string, ApiFunction>,
  alarms: Alarms,
): LambdaDeploymentGroup[] {
  const application = new LambdaApplication(scope, "Releases");
  return Object.entries(functions).map(([name, fn]) => {
    const alias = fn.addLiveAlias();
    const period = Duration.minutes(1);
    const release = new LambdaDeploymentGroup(scope, `${fn.node.id}Release`, {
      application,
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: addReleaseAlarms(alarms, name, {
        errors: alias.metricErrors({ period }),
        p99: alias.metricDuration({ period, statistic: "p99" }),
      }),
    });
    acknowledge(
      release,
      "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]",
      "AWS maintains this policy for CodeDeploy and Lambda, in its limited form.",
    );
    return release;
  });
}
