import { Duration } from "aws-cdk-lib";
import { TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as Target } from "aws-cdk-lib/aws-events-targets";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import type { Alarms } from "./alarms.ts";
import { StackLogGroup } from "./stack-log-group.ts";
import type { Stage } from "./stages.ts";

/** A request without a key is a 401 of API Gateway: it needs the name, the certificate and the API, and no function. */
const code = `exports.handler = async () => {
  const { status } = await fetch(process.env.URL, { signal: AbortSignal.timeout(5000) });
  if (status !== 401) throw new Error("The response was " + status + ".");
};`;

/** Adds a function that requests the API every minute as a client does, and an alarm for three failures in a row. */
export function addProbe(scope: Construct, alarms: Alarms, baseUrl: string, stage: Stage): void {
  const logGroup = new StackLogGroup(scope, "ProbeLogs", stage.logRetentionDays);
  const role = new Role(scope, "ProbeRole", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  logGroup.grantWrite(role);
  const probe = new LambdaFunction(scope, "Probe", {
    code: Code.fromInline(code),
    handler: "index.handler",
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    timeout: Duration.seconds(10),
    environment: { URL: `${baseUrl}/pets` },
    role,
    logGroup,
  });
  const period = Duration.minutes(1);
  new Rule(scope, "ProbeSchedule", { schedule: Schedule.rate(period), targets: [new Target(probe)] });
  alarms.watch("Unreachable", {
    alarmDescription: "Three requests in a row from outside the API failed, or none was sent.",
    metric: probe.metricErrors({ period }),
    evaluationPeriods: 3,
    treatMissingData: TreatMissingData.BREACHING,
  });
}
