import { randomUUID } from "node:crypto";
import { createTables } from "../../emulator/store/create-tables.ts";
import { readStack } from "../../emulator/template/template.ts";
import { servedStackName } from "../../infra/stages.ts";

// Each call sets them.
const { TEST_ASSEMBLY = "", AWS_ENDPOINT_URL_DYNAMODB = "", ...shared } = process.env;

/**
 * Makes tables for one test file only. The functions that it imports afterwards use them.
 *
 * @returns the names
 */
export async function createOwnTables() {
  const suffix = randomUUID();
  const named = (name = "") => `${name}-${suffix}`;
  const { tables } = readStack(TEST_ASSEMBLY, servedStackName);
  const own = tables.map((table) => ({ ...table, TableName: named(table.TableName) }));
  await createTables(AWS_ENDPOINT_URL_DYNAMODB, own);
  const pets = named(shared.PETS_TABLE);
  const keys = named(shared.API_KEYS_TABLE);
  const claims = named(shared.CLAIMS_TABLE);
  Object.assign(process.env, { PETS_TABLE: pets, API_KEYS_TABLE: keys, CLAIMS_TABLE: claims });
  return { pets, keys, claims };
}
