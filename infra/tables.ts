import { AttributeType, BillingMode, ProjectionType, Table, type TableProps } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import {
  KEY_TTL_ATTRIBUTE,
  KEYS_KEY,
  ORDER_ATTRIBUTE,
  PETS_KEY,
  STATUS_INDEX,
} from "../lib/dynamo/schema.ts";
import { acknowledge } from "./acknowledge.ts";
import { keysTableId, petsTableId } from "./names.ts";
import { removalPolicyOf } from "./removal-policy.ts";
import type { Stage } from "./stages.ts";

/**
 * A table whose recovery and protection depend on the stage. DynamoDB encrypts every table at rest by default. A table that
 * keeps data stays when its stack is deleted, unless the deployment that made it fails.
 */
export class StageTable extends Table {
  /** the environment variable that names the table to a function: `API_KEYS_TABLE` for ApiKeys (lib/env.ts) */
  readonly variable: string;

  constructor(scope: Construct, id: string, stage: Stage, props: TableProps) {
    const { retainData, deletionProtection } = stage;
    super(scope, id, {
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: retainData },
      deletionProtection: retainData && deletionProtection,
      removalPolicy: removalPolicyOf(stage),
      ...props,
    });
    this.variable = `${id.replaceAll(/\B[A-Z]/g, "_$&").toUpperCase()}_TABLE`;
    if (!retainData)
      acknowledge(this, "DDB3", "The data of this stage is for tests and can be created again.");
  }
}

/** Adds the tables of a stage. The outputs, the dashboard and the local store follow. */
export function createTables(scope: Construct, stage: Stage) {
  const pets = new StageTable(scope, petsTableId, stage, {
    partitionKey: { name: PETS_KEY, type: AttributeType.NUMBER },
  });
  pets.addGlobalSecondaryIndex({
    indexName: STATUS_INDEX,
    partitionKey: { name: "status", type: AttributeType.STRING },
    sortKey: { name: ORDER_ATTRIBUTE, type: AttributeType.NUMBER },
    projectionType: ProjectionType.ALL,
  });
  // A separate table, so that each function reaches only what it needs.
  const keys = new StageTable(scope, keysTableId, stage, {
    partitionKey: { name: KEYS_KEY, type: AttributeType.STRING },
    timeToLiveAttribute: KEY_TTL_ATTRIBUTE,
  });
  return { pets, keys };
}
