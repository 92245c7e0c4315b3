import { CfnOutput, Stack } from "aws-cdk-lib";
import { Operation as TableOperation } from "aws-cdk-lib/aws-dynamodb";
import { Code, SystemLogLevel } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { STATUS_INDEX } from "../lib/dynamo/pet-store.ts";
import { createPet } from "../lib/operations/create-pet.ts";
import { getPet } from "../lib/operations/get-pet.ts";
import { listPets } from "../lib/operations/list-pets.ts";
import { Alarms, type MonitoredResources } from "./alarms.ts";
import { Api } from "./api.ts";
import { ApiFunction, type ApiFunctionProps } from "./api-function.ts";
import { entryName } from "./bundle/options.ts";
import { addCanaryDeployments } from "./canary-deployment.ts";
import { addDashboard } from "./dashboard.ts";
import { addDomain } from "./domain.ts";
import { functionOutput, pascalCase } from "./pascal-case.ts";
import { addSavedQueries } from "./saved-queries.ts";
import type { Stage } from "./stages.ts";
import { ApiKeysTable, ClaimsTable, PetsTable } from "./tables.ts";
import { WebAcl } from "./web-acl.ts";

/** Returns the folder with the code of a function, by the file's name in functions/ without its extension. */
export type CodeFolder = (entry: string) => string;

/** One deployment of the whole service. */
export class AnimalStoreStack extends Stack {
  /** @param options.ignoreCanaryAlarms deploys even if alarms are triggered */
  constructor(
    scope: Construct,
    id: string,
    stage: Stage,
    options: { codeFolder: CodeFolder; ignoreCanaryAlarms: boolean },
  ) {
    super(scope, id, {
      description: `The Animal Store API, ${stage.name}`,
      terminationProtection: stage.deletionProtection,
    });
    const tables = {
      pets: new PetsTable(this, "Pets", stage),
      claims: new ClaimsTable(this, "Claims", stage),
      keys: new ApiKeysTable(this, "ApiKeys", stage),
    };
    const functions = this.#createFunctions(tables, stage, options.codeFolder);
    const alarms = new Alarms(this, "Alarms");
    if (stage.canaryDeployment) addCanaryDeployments(this, functions, alarms, options);

    const api = new Api(this, "Api", functions, stage);
    const webAcl = stage.wafRateLimits && new WebAcl(api, "WebAcl", stage.wafRateLimits);
    const baseUrl = stage.domain ? addDomain(api, api.restApi, stage.domain) : api.baseUrl;

    const monitored: MonitoredResources = { api, functions, tables, webAcl };
    alarms.monitor(monitored);
    addDashboard(this, monitored);
    addSavedQueries(this, monitored);

    new CfnOutput(this, "BaseUrl", { value: baseUrl });
    new CfnOutput(this, "PetsTableName", { value: tables.pets.tableName });
    new CfnOutput(this, "ApiKeysTableName", { value: tables.keys.tableName });
    for (const [name, { functionName }] of Object.entries(functions)) {
      new CfnOutput(this, functionOutput(name), { value: functionName });
    }
    new CfnOutput(this, "PageTopicArn", { value: alarms.page.topicArn });
    new CfnOutput(this, "NoticeTopicArn", { value: alarms.notice.topicArn });
  }

  #createFunctions(
    { pets, claims, keys }: { pets: PetsTable; claims: ClaimsTable; keys: ApiKeysTable },
    stage: Stage,
    codeFolder: CodeFolder,
  ) {
    const PETS_TABLE = pets.tableName;
    const { read, write } = stage.statusShards;
    const { GET_ITEM, PUT_ITEM, QUERY, UPDATE_ITEM } = TableOperation;
    /** The id of a function and its file in functions/ follow from its name. */
    const create = (name: string, props: Pick<ApiFunctionProps, "environment" | "access">) => {
      const kind = name === "authorize" ? "authorizer" : "operation";
      return new ApiFunction(this, pascalCase(name), {
        ...props,
        code: Code.fromAsset(codeFolder(entryName(name))),
        logRetentionDays: stage.logRetentionDays,
        canaryDeployment: stage.canaryDeployment,
        reservedConcurrentExecutions: stage.reservedConcurrency?.[kind],
        provisionedConcurrentExecutions: stage.provisionedConcurrency?.[kind],
        systemLogLevelV2: SystemLogLevel[stage.systemLogLevel],
      });
    };
    return {
      [listPets.id]: create(listPets.id, {
        environment: { PETS_TABLE, STATUS_SHARDS: String(read) },
        access: [{ table: pets, index: STATUS_INDEX, operations: [QUERY] }],
      }),
      [createPet.id]: create(createPet.id, {
        environment: { PETS_TABLE, CLAIMS_TABLE: claims.tableName, STATUS_SHARDS: String(write) },
        access: [
          { table: pets, operations: [PUT_ITEM] },
          { table: claims, operations: [GET_ITEM, PUT_ITEM, UPDATE_ITEM] },
        ],
      }),
      [getPet.id]: create(getPet.id, {
        environment: { PETS_TABLE },
        access: [{ table: pets, operations: [GET_ITEM] }],
      }),
      authorize: create("authorize", {
        environment: { API_KEYS_TABLE: keys.tableName, STAGE: stage.name },
        access: [{ table: keys, operations: [GET_ITEM] }],
      }),
    };
  }
}
