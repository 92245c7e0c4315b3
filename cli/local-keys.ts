import { clientConfig } from "../emulator/store/aws-environment.ts";
import { checkEndpoint } from "../emulator/store/create-tables.ts";
import { type ApiKeyStore, apiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { readTables } from "../local/data-folder.ts";
import { LIMITS } from "./limits.ts";

/**
 * Opens the keys of the local service, in the store that it runs with.
 *
 * @throws Error in one line if it does not run, or if its data folder cannot be read
 */
export async function openLocalKeys(): Promise<ApiKeyStore> {
  const { apiKeysTable, ...store } = await readTables();
  await checkEndpoint(store, AbortSignal.timeout(5000)).catch(({ message }: Error) => {
    throw new Error(`${message}. Start the service with \`npm start\`.`);
  });
  return apiKeyStore(apiKeysTable, { ...LIMITS, ...clientConfig(store) });
}
