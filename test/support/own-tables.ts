import { randomUUID } from "node:crypto";
import { createTables } from "../../emulator/store/create-tables.ts";
import { readStack } from "../../emulator/template/template.ts";
import { servedStackName } from "../../infra/stages.ts";
import { shared } from "./shared.ts";

// Each call sets them.
const { AWS_ENDPOINT_URL_DYNAMODB = "", PETS_TABLE, API_KEYS_TABLE } = process.env;

/**
 * Makes tables for one test file only. The functions that it imports afterwards use them.
 *
 * @returns the names
 */
export async function createOwnTables() {
  const suffix = randomUUID();
  const named = (name = "") => `${name}-${suffix}`;
  const { tables } = readStack(shared.assembly, servedStackName);
  const own = tables.map((table) => ({ ...table, TableName: named(table.TableName) }));
  await createTables({ endpoint: AWS_ENDPOINT_URL_DYNAMODB }, own);
  const pets = named(PETS_TABLE);
  const keys = named(API_KEYS_TABLE);
  Object.assign(process.env, { PETS_TABLE: pets, API_KEYS_TABLE: keys });
  return { pets, keys };
}
