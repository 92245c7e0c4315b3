import { Stack } from "aws-cdk-lib";
import { type Alarm, type MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
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
import { type ApiFunction, LIVE_ALIAS } from "../api-function.ts";
import type { Functions } from "../function-set.ts";
import { pascalCase } from "../names.ts";
import type { Stage } from "../stages.ts";
import { type AlarmDefinition, versionAlarms } from "./alarm-definitions.ts";
import { type Alarms, failureRate } from "./alarms.ts";

/**
 * Lets CodeDeploy shift the calls of each function to new code: 10 % for 5 minutes, then all of them. If an alarm of the
 * new version is triggered in these 5 minutes, the old version gets all calls again. The functions follow one another.
 */
export function addCanaryDeployments(
  scope: Construct,
  functions: Functions,
  alarms: Alarms,
  { ignoreCanaryAlarms = false }: Stage,
): void {
  const application = new LambdaApplication(scope, "CanaryDeployments");
  let previous: CfnAlias | undefined;
  for (const [name, fn] of Object.entries(functions)) {
    const { alias } = fn;
    if (!alias) continue;
    const resource = alias.node.defaultChild as CfnAlias;
    const group = new LambdaDeploymentGroup(scope, `${fn.node.id}DeploymentGroup`, {
      application,
      alarms: addVersionAlarms(alarms, name, fn),
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      ignoreAlarmConfiguration: ignoreCanaryAlarms,
    });
    // The alias names the group in its UpdatePolicy only. The update of the alias is the deployment, and has to wait until
    // the group has the alarms of the new version.
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
 * Adds alarms that measure the new version only, so that a failing old version cannot stop its repair. Their names contain
 * the version, so every deployment starts with new alarms.
 */
function addVersionAlarms(alarms: Alarms, name: string, fn: ApiFunction): Alarm[] {
  const { errors, highLatency, serverErrors, refusals } = versionAlarms(name);
  const add = (definition: AlarmDefinition, metric: Metric | MathExpression) =>
    alarms.add(
      definition,
      metric,
      `${pascalCase(name)}Canary${definition.name}`,
      `${Stack.of(fn).stackName}-${name}-version-${fn.currentVersion.version}-${definition.name}`,
    );
  const calls = versionMetric(fn, "Invocations", Stats.SUM);
  const [failed, fromStatus] = fn.kind === "authorizer" ? [refusals, 401] : [serverErrors, 500];
  return [
    add(errors, versionMetric(fn, "Errors", Stats.SUM)),
    add(highLatency, versionMetric(fn, "Duration", Stats.p(99))),
    add(failed, failureRate(failed, loggedResponses(name, fn, fromStatus), calls)),
  ];
}

/** Returns a Lambda metric of one version. Lambda reports it while an alias splits its calls between two versions. */
function versionMetric(fn: ApiFunction, metricName: string, statistic: string): Metric {
  return new Metric({
    namespace: "AWS/Lambda",
    metricName,
    statistic,
    dimensionsMap: {
      FunctionName: fn.functionName,
      Resource: `${fn.functionName}:${LIVE_ALIAS}`,
      ExecutedVersion: fn.currentVersion.version,
    },
  });
}

/** Counts the responses of the new version from a status on, from the lines that the function logs for them. */
function loggedResponses(name: string, fn: ApiFunction, status: number): Metric {
  const filter = new MetricFilter(fn, "LoggedResponses", {
    logGroup: fn.logGroup,
    filterPattern: FilterPattern.numberValue("$.message.status", ">=", status),
    metricNamespace: `AnimalStore/${Stack.of(fn).stackName}`,
    metricName: `${name}LoggedResponses`,
    metricValue: "1",
    dimensions: { version: "$.message.version" },
  });
  const dimensionsMap = { version: fn.currentVersion.version };
  return filter.metric({ statistic: Stats.SUM, dimensionsMap });
}
