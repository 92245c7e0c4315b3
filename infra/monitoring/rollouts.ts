import { Duration, Stack } from "aws-cdk-lib";
import { type Alarm, MathExpression, Stats } from "aws-cdk-lib/aws-cloudwatch";
import {
  type CfnDeploymentGroup,
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
} from "aws-cdk-lib/aws-codedeploy";
import type { CfnAlias } from "aws-cdk-lib/aws-lambda";
import { FilterPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";
import type { ApiFunction } from "../api-function.ts";
import type { Functions } from "../function-set.ts";
import { pascalCase } from "../names.ts";
import type { Stage } from "../stages.ts";
import type { Alarms } from "./alarms.ts";

/**
 * Lets CodeDeploy shift the calls of each function to new code, as the `rollout` of the stage says: at once, or first a part
 * of them. If the alarm of the new version is triggered meanwhile, the old version gets all calls again. The functions follow
 * one another.
 */
export function addRollouts(
  scope: Construct,
  functions: Functions,
  alarms: Alarms,
  { rollout }: Stage,
): void {
  const application = new LambdaApplication(scope, "CanaryDeployments");
  let previous: CfnAlias | undefined;
  for (const [name, fn] of Object.entries(functions)) {
    const resource = fn.live.node.defaultChild as CfnAlias;
    const group = new LambdaDeploymentGroup(scope, `${fn.node.id}DeploymentGroup`, {
      application,
      alarms: [addVersionAlarm(alarms, name, fn)],
      alias: fn.live,
      deploymentConfig: LambdaDeploymentConfig[rollout],
    });
    // The alias names the group in its UpdatePolicy only. The update of the alias is the deployment, and has to wait until
    // the group has the alarm of the new version.
    resource.addResourceDependency(group.node.defaultChild as CfnDeploymentGroup);
    // One after the other: a deployment that fails next to others that still run can leave a stack that cannot roll back.
    if (previous) resource.addResourceDependency(previous);
    previous = resource;
    acknowledge(
      group,
      "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]",
      "AWS maintains this policy for CodeDeploy and Lambda, in its limited form.",
    );
  }
}

/**
 * Adds an alarm that measures the new version only, so that a failing old version cannot stop its repair. Its name contains
 * the version, so every deployment starts with a new alarm. Lambda counts what a version throws, while an alias splits its
 * calls. The handler of an operation logs a line when it responds with a 5xx; what `authorize` cannot do, it throws.
 */
function addVersionAlarm(alarms: Alarms, name: string, fn: ApiFunction): Alarm {
  const { stackName } = Stack.of(fn);
  const { version } = fn.currentVersion;
  const measured = (metricName: string) => {
    const ofAlias = fn.live.metric(metricName, { statistic: Stats.SUM });
    return ofAlias.with({ dimensionsMap: { ...ofAlias.dimensions, ExecutedVersion: version } });
  };
  const responses =
    fn.kind === "operation" &&
    new MetricFilter(fn, "ServerErrors", {
      logGroup: fn.logGroup,
      filterPattern: FilterPattern.numberValue("$.message.status", ">=", 500),
      metricNamespace: `AnimalStore/${stackName}`,
      metricName: `${name}ServerErrors`,
      metricValue: "1",
      dimensions: { version: "$.message.version" },
    }).metric({ statistic: Stats.SUM, dimensionsMap: { version } });
  const failures = responses ? "SUM([FILL(errors, 0), FILL(responses, 0)])" : "FILL(errors, 0)";
  const percent = 1;
  return alarms.add(`${pascalCase(name)}Canary`, {
    metric: new MathExpression({
      expression: `${failures} / calls`,
      usingMetrics: {
        errors: measured("Errors"),
        ...(responses && { responses }),
        calls: measured("Invocations"),
      },
    }),
    threshold: percent / 100,
    period: Duration.minutes(1),
    // The metric of the log lines is some minutes late, and is 0 until then.
    evaluationPeriods: 5,
    datapointsToAlarm: 1,
    topic: alarms.notice,
    says: () =>
      `The new version of ${name} fails: in a minute, more than ${percent} % of its calls threw or got a 5xx.`,
    section: "A new version fails",
    name: `${name}-version-${version}`,
  });
}
