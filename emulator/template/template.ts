import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { evaluate } from "./intrinsics.ts";
import { type Resource, refuse, resourcesOf, type Template } from "./resources.ts";
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
  const template = readTemplate(join(folder, `${stackName}.template.json`));
  const find = resourcesOf(template);
  const api = readRestApi(find);
  const called = api.routes.map(
    ({ integration }) => "functionName" in integration && integration.functionName,
  );
  return {
    ...api,
    tables: find("DynamoDB::Table").map(
      (table): CreateTableCommandInput => ({
        TableName: table.id,
        AttributeDefinitions: table.AttributeDefinitions,
        KeySchema: table.KeySchema,
        GlobalSecondaryIndexes: table.GlobalSecondaryIndexes,
        BillingMode: table.BillingMode,
      }),
    ),
    /** those that the API calls; on this machine, nothing calls another one */
    functions: find("Lambda::Function")
      .filter(({ id }) => id === api.authorizer?.functionName || called.includes(id))
      .map((fn) => functionDefinition(fn, folder)),
    /** the outputs that need no deployed resource, such as table names */
    outputs: Object.fromEntries(
      Object.entries(template.Outputs ?? {}).map(([name, { Value }]) => [name, String(evaluate(Value))]),
    ) as Record<string, string>,
  };
}

function readTemplate(file: string): Template {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Error(`${file} is not a template: ${(error as Error).message}`);
  }
}

function functionDefinition(fn: Resource<"Lambda::Function">, folder: string) {
  if (!fn.Code.S3Key || !fn.Runtime.startsWith("nodejs"))
    refuse(fn.id, "it is not a Node.js function with its code in an asset");
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
