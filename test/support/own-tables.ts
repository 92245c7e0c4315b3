import { randomUUID } from "node:crypto";
import { servedStackName } from "../../infra/stages.ts";
import { env } from "../../lib/env.ts";
import { createTables } from "../../tools/emulator/store/create-tables.ts";
import { readStack } from "../../tools/emulator/template/template.ts";
import { shared } from "./shared.ts";

/**
 * Makes each table of the stack for one test file only. The functions that it imports afterwards use them.
 *
 * @returns the names of the tables
 */
export async function createOwnTables() {
  const suffix = `-${randomUUID()}`;
  const { tables, functions } = readStack(shared.assembly, servedStackName);
  const own = tables.map((table) => ({ ...table, TableName: table.TableName + suffix }));
  await createTables(own);
  for (const [name, value] of functions.flatMap(({ environment }) => Object.entries(environment)))
    if (tables.some(({ TableName }) => TableName === value)) process.env[name] = value + suffix;
  return { petsTable: env("PETS_TABLE"), apiKeysTable: env("API_KEYS_TABLE") };
}
