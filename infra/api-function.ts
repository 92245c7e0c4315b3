import { Duration, RemovalPolicy } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { Operation as TableOperation } from "aws-cdk-lib/aws-dynamodb";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Alias,
  ApplicationLogLevel,
  Architecture,
  type Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { FUNCTION_TIMEOUT_MS } from "../lib/time-limits.ts";
import { LIVE_ALIAS } from "./names.ts";
import { removalPolicyOf } from "./removal-policy.ts";
import type { Stage } from "./stages.ts";
import type { StageTable } from "./tables.ts";

/** What a function can do with one table. */
export interface TableAccess {
  table: StageTable;
  /** DynamoDB operations, such as `TableOperation.GET_ITEM` */
  operations: TableOperation[];
  /** the index that they reach, in place of the table */
  index?: string;
}

/**
 * What differs between the functions. Their permissions, throttle metrics, alarms, and variables that name tables follow from
 * `access`.
 */
interface ApiFunctionProps {
  kind: "operation" | "authorizer";
  access: TableAccess[];
  code: Code;
}

/**
 * Adds a role that allows a log and the declared access. Its id names the access, so a change of the access makes another
 * role. With `retainData`, a published version keeps the role that it was published with, so the alias can be moved to it
 * and back without a refused call.
 */
function createRole(
  scope: Construct,
  id: string,
  logGroup: LogGroup,
  access: readonly TableAccess[],
  stage: Stage,
): Role {
  const grants = access.flatMap(({ table, index = "", operations }) =>
    operations.map((operation) => ({
      name: operation + table.node.id + index,
      action: `dynamodb:${operation}`,
      resource: index ? `${table.tableArn}/index/${index}` : table.tableArn,
    })),
  );
  const allow = (actions: string[], resource: string) =>
    new PolicyStatement({ actions, resources: [resource] });
  const statements = [
    allow(["logs:CreateLogStream", "logs:PutLogEvents"], logGroup.logGroupArn),
    ...grants.map(({ action, resource }) => allow([action], resource)),
  ];
  const role = new Role(scope, `${id}RoleFor${grants.map(({ name }) => name).join("")}`, {
    assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
    inlinePolicies: { calls: new PolicyDocument({ statements }) },
  });
  // The alias can be moved back to an old version. A stage without `retainData` leaves no role behind instead.
  role.applyRemovalPolicy(removalPolicyOf(stage));
  return role;
}

/** One Lambda function with its own log group and role. */
export class ApiFunction extends LambdaFunction {
  /** the requests that DynamoDB throttled, by operation and table; the accesses to a table and its index count together */
  readonly tableThrottles = new Map<string, Metric>();
  /** what callers invoke: the newest version, or an older one that tools/deploy.sh or an operator has chosen */
  readonly live: Alias;

  constructor(scope: Construct, id: string, { kind, access, code }: ApiFunctionProps, stage: Stage) {
    const logs = { retention: stage.logRetentionDays, removalPolicy: removalPolicyOf(stage) };
    const logGroup = new LogGroup(scope, `${id}Logs`, logs);
    const role = createRole(scope, id, logGroup, access, stage);

    super(scope, id, {
      code,
      environment: {
        ...Object.fromEntries(access.map(({ table }) => [table.variable, table.tableName])),
        ...(kind === "authorizer" && { STAGE: stage.name }),
      },
      handler: "lambda-entry.handler", // infra/bundle/lambda-entry.mjs
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: Duration.millis(FUNCTION_TIMEOUT_MS),
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel[stage.systemLogLevel],
      // Keep old versions, so that the alias can be pointed back. But delete the version of a failed update:
      // publishing the same code again would return that version, and CloudFormation fails if it exists already.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    });

    for (const { table, operations } of access)
      for (const operation of operations) {
        const throttled = table.metricThrottledRequestsForOperation(operation);
        this.tableThrottles.set(`${operation} on ${table.node.id}`, throttled);
      }
    this.live = new Alias(this, "Live", { aliasName: LIVE_ALIAS, version: this.currentVersion });
  }
}
