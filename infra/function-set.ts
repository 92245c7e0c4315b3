import { Operation as TableOperation } from "aws-cdk-lib/aws-dynamodb";
import { Code } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { STATUS_INDEX } from "../lib/dynamo/schema.ts";
import type { operations } from "../lib/operations.ts";
import { ApiFunction, type TableAccess } from "./api-function.ts";
import { entryName, pascalCase } from "./names.ts";
import type { Stage } from "./stages.ts";
import type { createTables } from "./tables.ts";

type FunctionName = (typeof operations)[number]["id"] | "authorize";

/** The function of every operation, and the authorizer. */
export type Functions = Record<FunctionName, ApiFunction>;

/** Returns the folder with the code of a function, by the file's name in functions/ without its extension. */
export type CodeFolder = (entry: string) => string;

/** What each function does with the tables. */
const accessOf = ({ pets, keys }: ReturnType<typeof createTables>) => {
  const { GET_ITEM, PUT_ITEM, QUERY } = TableOperation;
  return {
    listPets: [{ table: pets, index: STATUS_INDEX, operations: [QUERY] }],
    createPet: [{ table: pets, operations: [PUT_ITEM] }],
    getPet: [{ table: pets, operations: [GET_ITEM] }],
    authorize: [{ table: keys, operations: [GET_ITEM] }],
  } satisfies Record<FunctionName, TableAccess[]>;
};

/** Adds the functions of a stage. The construct id of a function and its file in functions/ follow from its name. */
export function createFunctions(
  scope: Construct,
  tables: ReturnType<typeof createTables>,
  stage: Stage,
  codeFolder: CodeFolder,
): Functions {
  const create = (name: string, access: TableAccess[]) => {
    const kind = name === "authorize" ? "authorizer" : "operation";
    const code = Code.fromAsset(codeFolder(entryName(name)));
    return new ApiFunction(scope, pascalCase(name), { kind, access, code }, stage);
  };
  const functions = Object.entries(accessOf(tables)).map(([name, access]) => [name, create(name, access)]);
  return Object.fromEntries(functions) as Functions;
}
