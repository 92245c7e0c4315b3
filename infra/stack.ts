import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { createPet, getPet, listPets } from "../lib/operations.ts";
import { Alarms, type Watched } from "./alarms.ts";
import { Api } from "./api.ts";
import { ApiFunction } from "./api-function.ts";
import { addDashboard } from "./dashboard.ts";
import { DeprecatedCalls } from "./deprecated-calls.ts";
import { addDomain } from "./domain.ts";
import { addFirewall } from "./firewall.ts";
import { releaseGradually } from "./gradual-release.ts";
import type { Stage } from "./stages.ts";
import { ClaimsTable, KeysTable, PetsTable } from "./tables.ts";

/** One deployment of the whole service. */
export class AnimalStoreStack extends Stack {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, {
      description: `The Animal Store API, ${stage.name}`,
      terminationProtection: stage.keepData,
    });

    const pets = new PetsTable(this, "Pets", stage);
    const keys = new KeysTable(this, "Keys", stage);

    const claims = new ClaimsTable(this, "Claims");

    const PETS_TABLE = pets.tableName;
    const reservedConcurrency = stage.reservedConcurrency?.operation;
    const functions = {
      [listPets.id]: new ApiFunction(this, "ListPets", {
        entry: "list-pets",
        environment: { PETS_TABLE, STATUS_SHARDS: String(stage.statusShards.read) },
        reservedConcurrency,
      }),
      [createPet.id]: new ApiFunction(this, "CreatePet", {
        entry: "create-pet",
        environment: {
          PETS_TABLE,
          CLAIMS_TABLE: claims.tableName,
          STATUS_SHARDS: String(stage.statusShards.write),
        },
        reservedConcurrency,
      }),
      [getPet.id]: new ApiFunction(this, "GetPet", {
        entry: "get-pet",
        environment: { PETS_TABLE },
        reservedConcurrency,
      }),
    };
    const authorize = new ApiFunction(this, "Authorize", {
      entry: "authorize",
      environment: { KEYS_TABLE: keys.tableName, STAGE: stage.name },
      reservedConcurrency: stage.reservedConcurrency?.authorizer,
    });
    const allFunctions = { ...functions, authorize };

    functions.listPets.allow("dynamodb:Query", pets.statusIndexArn);
    functions.createPet.allow("dynamodb:PutItem", pets.tableArn);
    for (const action of ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]) {
      functions.createPet.allow(action, claims.tableArn);
    }
    functions.getPet.allow("dynamodb:GetItem", pets.tableArn);
    authorize.allow("dynamodb:GetItem", keys.tableArn);

    const alarms = new Alarms(this, "Alarms");
    const releases = stage.canary ? releaseGradually(this, allFunctions, alarms) : [];

    const api = new Api(this, "Api", { functions, authorize, stage });
    if (stage.firewallLimit) addFirewall(api, stage.firewallLimit);
    const baseUrl = stage.domain ? addDomain(api, stage.domain) : api.baseUrl;

    const deprecated = new DeprecatedCalls(this, "DeprecatedCalls", functions.getPet);
    const watched: Watched = {
      api: api.restApi,
      functions: allFunctions,
      tables: { pets, claims, keys },
      dataThrottles: {
        listPets: pets.metricThrottledRequestsForOperation("Query"),
        createPet: pets.metricThrottledRequestsForOperation("PutItem"),
        claims: claims.metricThrottledRequestsForOperation("PutItem"),
        getPet: pets.metricThrottledRequestsForOperation("GetItem"),
        authorize: keys.metricThrottledRequestsForOperation("GetItem"),
      },
      deprecated,
    };
    alarms.watch(watched, releases);
    addDashboard(this, watched);

    new CfnOutput(this, "BaseUrl", { value: baseUrl });
    new CfnOutput(this, "PetsTableName", { value: pets.tableName });
    new CfnOutput(this, "KeysTableName", { value: keys.tableName });
    for (const [name, { functionName }] of Object.entries(allFunctions)) {
      new CfnOutput(this, `${name}FunctionName`, { value: functionName });
    }
    new CfnOutput(this, "AlarmTopicArn", { value: alarms.topicArn });
  }
}
