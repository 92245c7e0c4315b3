import { Operation as TableOperation } from "aws-cdk-lib/aws-dynamodb";
import { Code, SystemLogLevel } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { STATUS_INDEX } from "../lib/dynamo/pet-store.ts";
import { createPet } from "../lib/operations/create-pet.ts";
import { getPet } from "../lib/operations/get-pet.ts";
import { listPets } from "../lib/operations/list-pets.ts";
import type { operations } from "../lib/operations.ts";
import { ApiFunction, type ApiFunctionProps } from "./api-function.ts";
import { entryName, pascalCase } from "./names.ts";
import type { Stage } from "./stages.ts";
import type { createTables } from "./tables.ts";

/** The function of every operation, and the authorizer. */
export type Functions = Record<(typeof operations)[number]["id"] | "authorize", ApiFunction>;

/** Returns the folder with the code of a function, by the file's name in functions/ without its extension. */
export type CodeFolder = (entry: string) => string;

/** Adds the functions of a stage. The construct id of a function and its file in functions/ follow from its name. */
export function createFunctions(
  scope: Construct,
  { pets, keys }: ReturnType<typeof createTables>,
  stage: Stage,
  codeFolder: CodeFolder,
): Functions {
  const PETS_TABLE = pets.tableName;
  const { GET_ITEM, PUT_ITEM, QUERY } = TableOperation;
  const create = (
    name: string,
    props: Pick<ApiFunctionProps, "environment" | "access">,
    kind: ApiFunction["kind"] = "operation",
  ) =>
    new ApiFunction(scope, pascalCase(name), {
      ...props,
      kind,
      code: Code.fromAsset(codeFolder(entryName(name))),
      logRetentionDays: stage.logRetentionDays,
      canaryDeployment: stage.canaryDeployment,
      retainRoles: stage.retainData,
      reservedConcurrentExecutions: stage.reservedConcurrency?.[kind],
      systemLogLevelV2: SystemLogLevel[stage.systemLogLevel],
    });
  return {
    [listPets.id]: create(listPets.id, {
      environment: { PETS_TABLE },
      access: [{ table: pets, index: STATUS_INDEX, operations: [QUERY] }],
    }),
    [createPet.id]: create(createPet.id, {
      environment: { PETS_TABLE },
      access: [{ table: pets, operations: [PUT_ITEM] }],
    }),
    [getPet.id]: create(getPet.id, {
      environment: { PETS_TABLE },
      access: [{ table: pets, operations: [GET_ITEM] }],
    }),
    authorize: create(
      "authorize",
      {
        environment: { API_KEYS_TABLE: keys.tableName, STAGE: stage.name },
        access: [{ table: keys, operations: [GET_ITEM] }],
      },
      "authorizer",
    ),
  };
}
