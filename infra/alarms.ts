import { Duration, RemovalPolicy } from "aws-cdk-lib";
import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  type Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import type { ApiFunction } from "./api-function.ts";
import type { DeprecatedCalls } from "./deprecated-calls.ts";

/** What the alarms and the dashboard look at. */
export interface Watched {
  api: RestApi;
  functions: Record<string, ApiFunction>;
  tables: Record<string, Table>;
  /** each function's requests that DynamoDB throttled */
  dataThrottles: Record<string, Metric>;
  deprecated: DeprecatedCalls;
}

/** The alarms of a stage, and the topic that operators subscribe to. */
export class Alarms extends Construct {
  readonly topicArn: string;
  readonly #action: SnsAction;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    // CloudWatch cannot publish to a topic that is encrypted with AWS's own key.
    const key = new Key(this, "Key", {
      enableKeyRotation: true,
      description: "Animal Store alarms",
      removalPolicy: RemovalPolicy.DESTROY,
    });
    key.grantEncryptDecrypt(new ServicePrincipal("cloudwatch.amazonaws.com"));
    const topic = new Topic(this, "Topic", { masterKey: key, enforceSSL: true });
    topic.grantPublish(new ServicePrincipal("cloudwatch.amazonaws.com"));
    this.#action = new SnsAction(topic);
    this.topicArn = topic.topicArn;
  }

  /** Adds an alarm that goes to the topic. A metric without data is no reason for one. */
  add(id: string, props: Omit<AlarmProps, "comparisonOperator" | "evaluationPeriods">): Alarm {
    const alarm = new Alarm(this, id, {
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
    });
    alarm.addAlarmAction(this.#action);
    alarm.addOkAction(this.#action);
    return alarm;
  }

  /** Adds the alarms of a whole stage. On its 5xx answers, which are no errors of a function, releases go back too. */
  watch({ api, functions, dataThrottles, deprecated }: Watched, releases: LambdaDeploymentGroup[]): void {
    const period = Duration.minutes(5);
    const serverErrors = this.add("ServerErrors", {
      alarmDescription: "More than 1 % of the requests of 5 minutes were answered with a 5xx.",
      metric: api.metricServerError({ statistic: "avg", period }),
      threshold: 0.01,
    });
    for (const release of releases) release.addAlarm(serverErrors);
    this.add("AuthorizerErrors", {
      alarmDescription: "The authorizer failed, so that clients got a 503. A refused key is no failure.",
      metric: functions.authorize?.metricErrors({ period }) as IMetric,
      threshold: 0,
    });
    for (const [name, each] of Object.entries(functions)) {
      this.add(`${name}Throttles`, {
        alarmDescription: `Lambda refused to start ${name}: the account's or its own concurrency is used up.`,
        metric: each.metricThrottles({ period }),
        threshold: 0,
      });
    }
    for (const [name, metric] of Object.entries(dataThrottles)) {
      this.add(`${name}DataThrottles`, {
        alarmDescription: `DynamoDB throttled ${name}, whose clients get a 503 when that lasts.`,
        metric,
        threshold: 0,
      });
    }
    this.add("DeprecatedCalls", {
      alarmDescription: "Somebody still called getPet today; the dashboard says which keys.",
      metric: deprecated.metric({ period: Duration.days(1) }),
      threshold: 0,
    });
  }
}

/** The alarms on which a release of a function is rolled back. */
export function releaseAlarms(
  alarms: Alarms,
  name: string,
  metrics: { errors: IMetric; p99: IMetric },
): Alarm[] {
  return [
    alarms.add(`${name}Errors`, {
      alarmDescription: `${name} threw or crashed.`,
      metric: metrics.errors,
      threshold: 0,
    }),
    alarms.add(`${name}Slow`, {
      alarmDescription: `The slowest 1 % of the calls of ${name} took more than 2 s.`,
      metric: metrics.p99,
      threshold: 2000,
    }),
  ];
}
