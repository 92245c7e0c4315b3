import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { evaluate, type Json } from "./intrinsics.ts";
import { type FindResources, type RestApiDefinition, readRestApi } from "./rest-api.ts";

/** A Lambda function of a synthesized template. */
export interface FunctionDefinition {
  name: string;
  /** folder with the bundled code */
  code: string;
  /** `file.export` */
  handler: string;
  environment: Record<string, string>;
  timeoutMs: number;
  memoryMb: number;
}

/** The parts of a stack's template that this machine can serve. */
export interface StackDefinition extends RestApiDefinition {
  tables: CreateTableCommandInput[];
  functions: FunctionDefinition[];
  /** the outputs that need no deployed resource, such as table names */
  outputs: Record<string, string>;
}

interface Resource {
  Type: string;
  Properties: Record<string, Json>;
}

function readTables(find: FindResources): CreateTableCommandInput[] {
  return find("DynamoDB::Table").map((table) => ({
    TableName: table.id,
    AttributeDefinitions: table.AttributeDefinitions,
    KeySchema: table.KeySchema,
    GlobalSecondaryIndexes: table.GlobalSecondaryIndexes,
    BillingMode: table.BillingMode,
  }));
}

function readFunctions(find: FindResources, folder: string): FunctionDefinition[] {
  return find("Lambda::Function").map((fn) => ({
    name: fn.id,
    code: join(folder, `asset.${fn.Code.S3Key.replace(/\.zip$/, "")}`),
    handler: fn.Handler,
    environment: fn.Environment.Variables,
    timeoutMs: fn.Timeout * 1000,
    memoryMb: fn.MemorySize,
  }));
}

/**
 * Reads a stack from a synthesized cloud assembly.
 *
 * @param folder where `synthesize` wrote it
 * @param stackName e.g. animal-store-staging
 */
export function readStack(folder: string, stackName: string): StackDefinition {
  const { Resources, Outputs } = JSON.parse(readFileSync(join(folder, `${stackName}.template.json`), "utf8"));
  const resources = Object.entries<Resource>(Resources);
  const find: FindResources = (type) =>
    resources
      .filter(([, resource]) => resource.Type === `AWS::${type}`)
      .map(([id, resource]) => ({ id, ...evaluate(resource.Properties) }));
  return {
    ...readRestApi(find),
    tables: readTables(find),
    functions: readFunctions(find, folder),
    outputs: Object.fromEntries(
      Object.entries<{ Value: Json }>(Outputs).map(([name, { Value }]) => [name, evaluate(Value)]),
    ),
  };
}
