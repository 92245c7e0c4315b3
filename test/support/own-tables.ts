import { randomUUID } from "node:crypto";
import { servedStackName } from "../../infra/stages.ts";
import { createTables } from "../../tools/emulator/store/create-tables.ts";
import { readStack } from "../../tools/emulator/template/template.ts";
import type { Json } from "./json.ts";
import { shared } from "./shared.ts";

/**
 * Makes each table of the stack for one test file only. The functions that it imports afterwards use them.
 *
 * @returns the names of the tables, by the variables that tell them to the functions
 */
export async function createOwnTables() {
  const suffix = `-${randomUUID()}`;
  const { tables, functions } = readStack(shared.assembly, servedStackName);
  const own = tables.map((table) => ({ ...table, TableName: table.TableName + suffix }));
  await createTables(own);
  const names: Record<string, Json> = {};
  for (const [variable, value] of functions.flatMap(({ environment }) => Object.entries(environment)))
    if (tables.some(({ TableName }) => TableName === value)) names[variable] = value + suffix;
  Object.assign(process.env, names);
  return names;
}
