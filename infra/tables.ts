import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, Table, type TableProps } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { CLAIM_TTL_ATTRIBUTE } from "../lib/dynamo/claims.ts";
import { KEY_TTL_ATTRIBUTE } from "../lib/dynamo/key-store.ts";
import { STATUS_INDEX } from "../lib/dynamo/pet-store.ts";
import { acknowledge } from "./acknowledge.ts";
import type { Stage } from "./stages.ts";

/** DynamoDB encrypts every table at rest; the rest of its safety depends on the stage. */
const settings = ({ keepData }: Stage): Omit<TableProps, "partitionKey"> => ({
  billingMode: BillingMode.PAY_PER_REQUEST,
  pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepData },
  deletionProtection: keepData,
  removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
});

/** Says why a stage's data need no backup. */
function acknowledgeDisposable(table: Table, { keepData }: Stage): void {
  if (!keepData) acknowledge(table, "DDB3", "The data of this stage are for tests and can be made again.");
}

/** The animals by id, and by status in order of id. */
export class PetsTable extends Table {
  readonly statusIndexArn: string;

  constructor(scope: Construct, id: string, stage: Stage) {
    const idKey = { name: "id", type: AttributeType.NUMBER };
    super(scope, id, { ...settings(stage), partitionKey: idKey });
    this.addGlobalSecondaryIndex({
      indexName: STATUS_INDEX,
      partitionKey: { name: "status", type: AttributeType.STRING },
      sortKey: idKey,
      projectionType: ProjectionType.ALL,
    });
    acknowledgeDisposable(this, stage);
    this.statusIndexArn = `${this.tableArn}/index/${STATUS_INDEX}`;
  }
}

/** The claims of creations with an Idempotency-Key; nobody needs them after a day. */
export class ClaimsTable extends Table {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      billingMode: BillingMode.PAY_PER_REQUEST,
      removalPolicy: RemovalPolicy.DESTROY,
      partitionKey: { name: "hash", type: AttributeType.STRING },
      timeToLiveAttribute: CLAIM_TTL_ATTRIBUTE,
    });
    acknowledge(this, "DDB3", "A claim matters for 24 hours, and only to a client that tries again.");
  }
}

/** The API keys by their hash; apart from the animals, so that each function reaches only what it needs. */
export class KeysTable extends Table {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, {
      ...settings(stage),
      partitionKey: { name: "hash", type: AttributeType.STRING },
      timeToLiveAttribute: KEY_TTL_ATTRIBUTE,
    });
    acknowledgeDisposable(this, stage);
  }
}
