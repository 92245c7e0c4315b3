import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { entryName } from "../bundle/options.ts";
import { evaluate, type Json } from "./intrinsics.ts";
import { type FindResources, readRestApi } from "./rest-api.ts";

/** The parts of a stack's template that this machine can serve. */
export type StackDefinition = ReturnType<typeof readStack>;
/** A Lambda function of a synthesized template. */
export type FunctionDefinition = StackDefinition["functions"][number];

/**
 * Reads a stack from a synthesized cloud assembly.
 *
 * @param folder where `synthesize` wrote it
 * @param stackName e.g. animal-store-staging
 */
export function readStack(folder: string, stackName: string) {
  const { Resources, Outputs } = JSON.parse(readFileSync(join(folder, `${stackName}.template.json`), "utf8"));
  const find: FindResources = (type) =>
    Object.entries<Json>(Resources)
      .filter(([, { Type }]) => Type === `AWS::${type}`)
      .map(([id, { Properties }]) => ({ id, ...evaluate(Properties) }));
  /** the outputs that need no deployed resource, such as table names */
  const outputs = Object.fromEntries(
    Object.entries<Json>(Outputs).map(([name, { Value }]): [string, string] => [name, evaluate(Value)]),
  );
  const outputOf = new Map(Object.entries(outputs).map(([output, value]) => [value, output]));
  return {
    ...readRestApi(find),
    tables: find("DynamoDB::Table").map(
      (table): CreateTableCommandInput => ({
        TableName: table.id,
        AttributeDefinitions: table.AttributeDefinitions,
        KeySchema: table.KeySchema,
        GlobalSecondaryIndexes: table.GlobalSecondaryIndexes,
        BillingMode: table.BillingMode,
      }),
    ),
    functions: find("Lambda::Function").map((fn) => ({
      /** the id of its operation, or `authorize` */
      id: idOf(outputOf.get(fn.id) ?? ""),
      /** the logical id */
      name: String(fn.id),
      /** folder with the bundled code */
      code: join(folder, `asset.${fn.Code.S3Key.replace(/\.zip$/, "")}`),
      /** `file.export` */
      handler: String(fn.Handler),
      environment: fn.Environment.Variables as Record<string, string>,
      timeoutMs: fn.Timeout * 1000,
      memoryMb: Number(fn.MemorySize),
    })),
    outputs,
  };
}

/** Returns the id of an operation from the output that names its function: `listPets` of `ListPetsFunctionName`. */
const idOf = (output: string) =>
  output.charAt(0).toLowerCase() + output.slice(1).replace(/FunctionName$/, "");

/**
 * Returns a function of the API.
 *
 * @param id of an operation, or `authorize`
 * @throws Error if the stack has no such function
 */
export function functionOf({ functions }: StackDefinition, id: string): FunctionDefinition {
  const found = functions.find((fn) => fn.id === id);
  if (!found) throw new Error(`There is no function ${id}.`);
  return found;
}

/**
 * Replaces the code of the functions.
 *
 * @param folder has a folder for each file of functions/
 */
export function withCode(stack: StackDefinition, folder: string): StackDefinition {
  const functions = stack.functions.map((fn) => ({ ...fn, code: join(folder, entryName(fn.id)) }));
  return { ...stack, functions };
}
