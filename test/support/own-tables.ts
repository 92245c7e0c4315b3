import { randomUUID } from "node:crypto";
import { readStack } from "../../local/assembly/template.ts";
import { createTables } from "../../local/store/create-tables.ts";

/**
 * Makes tables for one test file only. The functions that it imports afterwards use them.
 *
 * @returns the names
 */
export async function ownTables() {
  const suffix = randomUUID();
  const named = (name = "") => `${name}-${suffix}`;
  const { tables } = readStack(process.env.TEST_ASSEMBLY ?? "", "animal-store-staging");
  await createTables(
    process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "",
    tables.map((table) => ({ ...table, TableName: named(table.TableName) })),
  );
  const names = {
    pets: named(process.env.PETS_TABLE),
    keys: named(process.env.KEYS_TABLE),
    claims: named(process.env.CLAIMS_TABLE),
  };
  Object.assign(process.env, {
    PETS_TABLE: names.pets,
    KEYS_TABLE: names.keys,
    CLAIMS_TABLE: names.claims,
  });
  return names;
}
