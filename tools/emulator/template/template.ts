import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { evaluate } from "./intrinsics.ts";
import { type Resource, resourcesOf, type Template } from "./resources.ts";
import { readRestApi } from "./rest-api.ts";

/** The parts of a stack's template that this machine can serve. */
export type StackDefinition = ReturnType<typeof readStack>;
export type FunctionDefinition = StackDefinition["functions"][number];

/**
 * Reads a stack from a synthesized cloud assembly.
 *
 * @param folder where the CDK app wrote it
 * @param stackName names its template
 * @throws Error in one line that names the resource whose type is not imitated
 */
export function readStack(folder: string, stackName: string) {
  const template: Template = JSON.parse(readFileSync(join(folder, `${stackName}.template.json`), "utf8"));
  const find = resourcesOf(template);
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
    functions: find("Lambda::Function").map((fn) => functionDefinition(fn, folder)),
    /** the outputs, such as the names of the tables */
    outputs: Object.fromEntries(
      Object.entries(template.Outputs).map(([name, { Value }]) => [name, String(evaluate(Value))]),
    ) as Record<string, string>,
  };
}

function functionDefinition(fn: Resource<"Lambda::Function">, folder: string) {
  return {
    /** the logical id */
    name: fn.id,
    /** folder with the bundled code */
    code: join(folder, `asset.${fn.Code.S3Key.replace(/\.zip$/, "")}`),
    /** `file.export` */
    handler: fn.Handler,
    environment: fn.Environment?.Variables ?? {},
    timeoutMs: fn.Timeout * 1000,
  };
}
