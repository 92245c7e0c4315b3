import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { createPet, getPet, listPets } from "../lib/operations.ts";
import { Api } from "./api.ts";
import { ApiFunction } from "./api-function.ts";
import type { Stage } from "./stages.ts";
import { KeysTable, PetsTable } from "./tables.ts";

/** One deployment of the whole service. */
export class AnimalStoreStack extends Stack {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, { description: `The Animal Store API, ${stage.name}` });

    const pets = new PetsTable(this, "Pets", stage);
    const keys = new KeysTable(this, "Keys", stage);

    const PETS_TABLE = pets.tableName;
    const functions = {
      [listPets.id]: new ApiFunction(this, "ListPets", { entry: "list-pets", environment: { PETS_TABLE } }),
      [createPet.id]: new ApiFunction(this, "CreatePet", {
        entry: "create-pet",
        environment: { PETS_TABLE },
      }),
      [getPet.id]: new ApiFunction(this, "GetPet", { entry: "get-pet", environment: { PETS_TABLE } }),
    };
    const authorize = new ApiFunction(this, "Authorize", {
      entry: "authorize",
      environment: { KEYS_TABLE: keys.tableName, STAGE: stage.name },
    });

    functions.listPets.allow("dynamodb:Query", pets.statusIndexArn);
    functions.createPet.allow("dynamodb:PutItem", pets.tableArn);
    functions.getPet.allow("dynamodb:GetItem", pets.tableArn);
    authorize.allow("dynamodb:GetItem", keys.tableArn);

    const api = new Api(this, "Api", { functions, authorize, stage });

    new CfnOutput(this, "BaseUrl", { value: api.baseUrl });
    new CfnOutput(this, "PetsTableName", { value: pets.tableName });
    new CfnOutput(this, "KeysTableName", { value: keys.tableName });
    for (const [operation, { functionName }] of Object.entries({ ...functions, authorize })) {
      new CfnOutput(this, `${operation}FunctionName`, { value: functionName });
    }
  }
}
