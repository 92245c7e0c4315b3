import { setTimeout } from "node:timers/promises";
import { clientConfig, type StoreAddress } from "../emulator/store/aws-environment.ts";
import { checkEndpoint } from "../emulator/store/create-tables.ts";
import { DataInUse, startStore } from "../emulator/store/store.ts";
import { type ApiKeyStore, apiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { readTables, storeFolder } from "../local/data-folder.ts";
import { LIMITS } from "./limits.ts";

/**
 * Opens the keys of the local service in its data folder, whether the service is running or not. To dispose of them closes
 * the store.
 *
 * @throws Error in one line if the data cannot be read
 */
export async function openLocalKeys(): Promise<ApiKeyStore & AsyncDisposable> {
  const end = Date.now() + 10_000;
  for (;;) {
    const tables = await readTables();
    const { endpoint, accessKeyId, apiKeysTable } = tables;
    const store = accessKeyId ? await startStore(storeFolder).catch(unlessInUse) : undefined;
    if (store || !accessKeyId || (await responds(tables)))
      return {
        ...apiKeyStore(apiKeysTable, { ...LIMITS, ...clientConfig(store ?? tables) }),
        [Symbol.asyncDispose]: async () => store?.close(),
      };
    // Another command has the data open, or the service is just starting or stopping.
    if (Date.now() > end)
      throw new Error(
        `The data folder ${storeFolder} is in use by another process, and no store responds at ${endpoint}.`,
      );
    await setTimeout(200);
  }
}

/** If the data is in use, the service probably runs and serves it. */
function unlessInUse(error: unknown): undefined {
  if (!(error instanceof DataInUse)) throw error;
}

const responds = (store: StoreAddress) =>
  checkEndpoint(store, AbortSignal.timeout(1000)).then(
    () => true,
    () => false,
  );
