import { clientConfig } from "../emulator/store/aws-environment.ts";
import { describeTable } from "../emulator/store/create-tables.ts";
import { type ApiKeyStore, apiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { readTables } from "../local/data-folder.ts";
import { AWS_CLIENT_OPTIONS } from "./aws-client-options.ts";

/** How long the store can take to respond. It is on this machine. */
const TIMEOUT_MS = 5000;

/**
 * Opens the keys of the local service, in the store that it runs with.
 *
 * @throws Error in one line if it does not run or respond, or if its data folder cannot be read
 */
export async function openLocalKeys(env: NodeJS.ProcessEnv): Promise<ApiKeyStore> {
  const { apiKeysTable, ...store } = await readTables(env);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  await describeTable(store, apiKeysTable, timeout).catch(({ message }: Error) => {
    if (timeout.aborted)
      throw new Error(
        `The local service at ${store.endpoint} does not respond. Its process can be suspended.`,
      );
    throw new Error(`${message}. Start the service with \`npm start\`.`);
  });
  return apiKeyStore(apiKeysTable, { ...AWS_CLIENT_OPTIONS, ...clientConfig(store) });
}
