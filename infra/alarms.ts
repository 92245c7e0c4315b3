import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  Stats,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import type { Api, Functions } from "./api.ts";
import { deprecatedOperations } from "./deprecated.ts";
import type { Firewall } from "./firewall.ts";

/** What the alarms and the dashboard show. */
export interface MonitoredResources {
  api: Api;
  functions: Functions;
  tables: Record<string, Table>;
  firewall: Firewall | undefined;
}

/** The alarms of a stage, and the topic that operators subscribe to. */
export class Alarms extends Construct {
  readonly topicArn: string;
  readonly #action: SnsAction;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    // CloudWatch cannot publish to a topic that is encrypted with an AWS managed key.
    const key = new Key(this, "Key", {
      enableKeyRotation: true,
      description: "Animal Store alarms",
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const topic = new Topic(this, "Topic", { masterKey: key, enforceSSL: true });
    // Without the conditions, the alarms of every AWS account could publish.
    const { partition, region, account } = Stack.of(this);
    const cloudWatch = new ServicePrincipal("cloudwatch.amazonaws.com", {
      conditions: {
        StringEquals: { "aws:SourceAccount": account },
        ArnLike: { "aws:SourceArn": `arn:${partition}:cloudwatch:${region}:${account}:alarm:*` },
      },
    });
    topic.grantPublish(cloudWatch); // and the use of its key
    this.#action = new SnsAction(topic);
    this.topicArn = topic.topicArn;
  }

  /**
   * Adds an alarm that notifies the topic when it is triggered and when it ends. Missing data does not trigger it.
   *
   * @param props such as the threshold, 0 by default, that the metric has to exceed
   */
  add(id: string, props: Pick<AlarmProps, "metric"> & Partial<AlarmProps>): Alarm {
    const alarm = new Alarm(this, id, {
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      threshold: 0,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
    });
    alarm.addAlarmAction(this.#action);
    alarm.addOkAction(this.#action);
    return alarm;
  }

  /** Adds the alarms of a whole stage. */
  monitor({ api: { restApi }, functions }: MonitoredResources): void {
    const period = Duration.minutes(5);
    this.add("ServerErrors", {
      alarmDescription: "More than 1 % of the responses of 5 minutes were a 5xx.",
      metric: restApi.metricServerError({ statistic: Stats.AVERAGE, period }),
      threshold: 0.01,
    });
    this.add("Slow", {
      alarmDescription: "The slowest 1 % of the responses of 5 minutes took more than 2 s.",
      metric: restApi.metricLatency({ statistic: Stats.p(99), period }),
      threshold: 2000,
    });
    this.add("AuthorizerErrors", {
      alarmDescription: "The authorizer failed and clients got a 503. A refused key does not count.",
      metric: functions.authorize.metricErrors({ period }),
    });
    for (const [name, fn] of Object.entries(functions)) {
      this.add(`${name}Throttles`, {
        alarmDescription: `Lambda did not start ${name}: the concurrency of the account or of the function is used up.`,
        metric: fn.metricThrottles({ period }),
      });
      for (const { table, operation, metric } of fn.tableThrottles) {
        this.add(`${name}${table}${operation}Throttles`, {
          alarmDescription: `DynamoDB throttled ${operation} on ${table} for ${name}; clients get a 503 if it lasts.`,
          metric,
        });
      }
    }
    for (const { id } of deprecatedOperations) {
      this.add(`${id}DeprecatedCalls`, {
        alarmDescription: `Clients called ${id} today; the dashboard shows the keys.`,
        metric: functions[id].metricInvocations({ period: Duration.days(1) }),
      });
    }
  }
}
