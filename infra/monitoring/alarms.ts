import { type Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";

/** What is a slow response, in milliseconds. */
export const SLOW_MS = 2000;

/** By default, an alarm sends a notice when its metric exceeds 0. */
export interface AlarmSettings extends Partial<AlarmProps> {
  id: string;
  metric: IMetric;
  alarmDescription: string;
  /** the heading in docs/incidents.md of what to do */
  section: string;
  topic?: "page" | "notice";
}

/** The name of a stage's dashboard: dashboards have one namespace in all regions of an account. */
export function dashboardName(scope: Construct): string {
  const { stackName, region } = Stack.of(scope);
  return `${stackName}-${region}`;
}

/** The topics that operators subscribe to, and the alarms that notify them. */
export class Alarms extends Construct {
  /** for what has to wake somebody */
  readonly page: Topic;
  /** for what can wait until working hours */
  readonly notice: Topic;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    // CloudWatch cannot publish to a topic that is encrypted with an AWS managed key.
    const masterKey = new Key(this, "Key", {
      enableKeyRotation: true,
      description: "Animal Store alarms",
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Without the conditions, the alarms of every AWS account could publish.
    const { partition, region, account } = Stack.of(this);
    const cloudWatch = new ServicePrincipal("cloudwatch.amazonaws.com", {
      conditions: {
        StringEquals: { "aws:SourceAccount": account },
        ArnLike: { "aws:SourceArn": `arn:${partition}:cloudwatch:${region}:${account}:alarm:*` },
      },
    });
    this.page = new Topic(this, "Page", { masterKey, enforceSSL: true });
    this.notice = new Topic(this, "Notice", { masterKey, enforceSSL: true });
    for (const topic of [this.page, this.notice]) topic.grantPublish(cloudWatch); // and the use of the key
  }

  /**
   * Adds an alarm that notifies its topic when it is triggered. Missing data does not trigger it. The message has only the
   * description, so that ends with where to look.
   */
  add({ id, topic = "notice", section, alarmDescription, ...props }: AlarmSettings): Alarm {
    const alarm = new Alarm(this, id, {
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      threshold: 0,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
      alarmDescription: `${alarmDescription} See "${section}" in docs/incidents.md, and the dashboard ${dashboardName(this)}.`,
    });
    alarm.addAlarmAction(new SnsAction(this[topic]));
    return alarm;
  }
}

/** Returns the failures in a period divided by its calls, or 0 with fewer failures than `fewest`, which can be an expression. */
export function failureRate(
  failures: IMetric,
  calls: IMetric,
  fewest: number | string,
  period: Duration,
): MathExpression {
  const expression = `IF(failures >= ${fewest}, failures / calls, 0)`;
  return new MathExpression({ expression, usingMetrics: { failures, calls }, period });
}
