import { servedStack } from "../../infra/stages.ts";
import { readStack } from "../../local/assembly/template.ts";
import { createTables } from "../../local/store/create-tables.ts";
import { type Store, startStore } from "../../local/store/store.ts";

/**
 * Starts an embedded store with the tables of staging, and sets the environment of the functions under test.
 *
 * @param assembly folder of the synthesized app
 */
export async function startTestStore(assembly: string): Promise<Store> {
  const store = await startStore();
  const { tables, outputs } = readStack(assembly, servedStack);
  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_ENDPOINT_URL_DYNAMODB: store.endpoint,
    PETS_TABLE: outputs.PetsTableName,
    KEYS_TABLE: outputs.KeysTableName,
    CLAIMS_TABLE: tables.map(({ TableName }) => TableName).find((name) => name?.startsWith("Claims")),
    STATUS_SHARDS: "1",
    STAGE: "staging",
    TEST_ASSEMBLY: assembly,
  });
  await createTables(store.endpoint, tables);
  return store;
}
