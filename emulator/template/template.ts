import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { evaluate, type Json } from "./intrinsics.ts";
import { type Resource, refuse, resourcesOf } from "./resources.ts";
import { readRestApi } from "./rest-api.ts";

/** The parts of a stack's template that this machine can serve. */
export type StackDefinition = ReturnType<typeof readStack>;
/** A Lambda function of a synthesized template. */
export type FunctionDefinition = StackDefinition["functions"][number];

/**
 * Reads a stack from a synthesized cloud assembly.
 *
 * @param folder where the CDK app wrote it
 * @param stackName e.g. animal-store-staging
 * @throws Error in one line that names the file, or the resource that cannot be served
 */
export function readStack(folder: string, stackName: string) {
  const {
    Resources = {},
    Outputs = {},
    Parameters = {},
  } = readTemplate(join(folder, `${stackName}.template.json`));
  const find = resourcesOf(Resources, Parameters);
  const api = readRestApi(find);
  const called = [
    api.authorizer?.functionName,
    ...api.routes.map(({ integration }) => integration.type === "AWS_PROXY" && integration.functionName),
  ];
  return {
    ...api,
    tables: find("DynamoDB::Table").map(
      (table): CreateTableCommandInput => ({
        TableName: table.id,
        AttributeDefinitions: table.AttributeDefinitions,
        KeySchema: table.KeySchema,
        GlobalSecondaryIndexes: table.GlobalSecondaryIndexes,
        LocalSecondaryIndexes: table.LocalSecondaryIndexes,
        BillingMode: table.BillingMode,
        ProvisionedThroughput: table.ProvisionedThroughput,
      }),
    ),
    /** those that the API calls; nothing on this machine calls another one */
    functions: find("Lambda::Function")
      .filter(({ id }) => called.includes(id))
      .map((fn) => readFunction(fn, folder)),
    /** the values that need no deployed resource, such as table names */
    outputs: Object.fromEntries(
      Object.entries(Outputs).map(([name, { Value }]) => [name, String(evaluate(Value))]),
    ) as Record<string, string>,
  };
}

interface Template {
  Resources?: Record<string, { Type: string; Properties?: Json }>;
  Outputs?: Record<string, { Value: Json }>;
  Parameters?: object;
}

function readTemplate(file: string): Template {
  const text = readFileSync(file, "utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is not a template: ${(error as Error).message}`);
  }
}

function readFunction(fn: Resource<"Lambda::Function">, folder: string) {
  if (!fn.Code.S3Key || !fn.Runtime.startsWith("nodejs"))
    refuse(fn.id, "only a Node.js function with its code in an asset is supported");
  return {
    /** the logical id */
    name: fn.id,
    /** folder with the bundled code */
    code: join(folder, `asset.${fn.Code.S3Key.replace(/\.zip$/, "")}`),
    /** `file.export` */
    handler: fn.Handler,
    environment: fn.Environment?.Variables ?? {},
    timeoutMs: (fn.Timeout ?? 3) * 1000,
    memoryMb: fn.MemorySize ?? 128,
  };
}

/**
 * Returns the function that an output names.
 *
 * @throws Error if the API calls no such function
 */
export function functionOf({ functions, outputs }: StackDefinition, output: string): FunctionDefinition {
  const found = functions.find(({ name }) => name === outputs[output]);
  if (!found) throw new Error(`The API calls no function that the output ${output} names.`);
  return found;
}
