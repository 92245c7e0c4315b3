import { Annotations, Duration, Stack } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type MathExpression,
  type Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import { anchorOf } from "../names.ts";
import type { Stage } from "../stages.ts";

/** The alarm is triggered when the metric exceeds the threshold in each period. */
interface AlarmOptions extends Pick<AlarmProps, "threshold" | "evaluationPeriods"> {
  metric: Metric | MathExpression;
  period: Duration;
  topic: Topic;
  /** what has happened in the time of all periods, such as `15 minutes`, for the mail: one sentence */
  says: (time: string) => string;
  /** the heading in docs/incidents.md of what to do */
  section: string;
}

/** The name of a stage's dashboard: dashboards have one namespace in all regions of an account. */
export function dashboardName(scope: Construct): string {
  const { stackName, region } = Stack.of(scope);
  return `${stackName}-${region}`;
}

/** The topics of a stage with their subscriptions, and the alarms that notify them. */
export class Alarms extends Construct {
  /** for what has to wake somebody */
  readonly page: Topic;
  /** for what can wait until working hours */
  readonly notice: Topic;

  readonly #runbook: string;

  constructor(
    scope: Construct,
    id: string,
    { alarmEmails, retainData }: Stage,
    runbook = "docs/incidents.md",
  ) {
    super(scope, id);
    this.#runbook = runbook;
    const silent = "The alarms notify nobody until someone subscribes: set alarmEmails in infra/stages.ts.";
    if (retainData && !alarmEmails) Annotations.of(this).addWarningV2("animal-store:no-alarm-emails", silent);
    this.page = this.#createTopic("Page", alarmEmails?.page);
    this.notice = this.#createTopic("Notice", alarmEmails?.notice);
  }

  /** Creates a topic to which the alarms of this account can publish. @param email who gets its messages */
  #createTopic(id: string, email?: string): Topic {
    const topic = new Topic(this, id, { enforceSSL: true });
    // Without the conditions, the alarms of every AWS account could publish.
    const { partition, region, account } = Stack.of(this);
    const conditions = {
      StringEquals: { "aws:SourceAccount": account },
      ArnLike: { "aws:SourceArn": `arn:${partition}:cloudwatch:${region}:${account}:alarm:*` },
    };
    topic.grantPublish(new ServicePrincipal("cloudwatch.amazonaws.com", { conditions }));
    if (email) topic.addSubscription(new EmailSubscription(email));
    return topic;
  }

  /**
   * Adds an alarm that notifies a topic. Missing data does not trigger it. AWS writes the rest of the mail, so the
   * description ends with where to look.
   */
  add(id: string, { metric, period, topic, says, section, ...props }: AlarmOptions): Alarm {
    const time = Duration.minutes(props.evaluationPeriods * period.toMinutes()).toHumanString();
    const alarm = new Alarm(this, id, {
      ...props,
      alarmName: `${Stack.of(this).stackName}-${id}`,
      metric: metric.with({ period }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `${says(time)} See ${this.#runbook}#${anchorOf(section)}, and the dashboard ${dashboardName(this)}.`,
    });
    alarm.addAlarmAction(new SnsAction(topic));
    return alarm;
  }
}
