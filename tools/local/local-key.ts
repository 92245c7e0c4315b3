import { readFile, writeFile } from "node:fs/promises";
import { generateApiKey, hashApiKey, isLive, keyIdOf, newApiKeyRecord, scopes } from "../../lib/api-key.ts";
import type { ApiKeyStore } from "../../lib/dynamo/api-key-store.ts";

/**
 * Returns the key of the local service: the one in the file, or a new one if that does not work. No other key is ever stored
 * as text; this one gives access only to the data of this local service.
 *
 * @param stage the local stage's name, part of the key
 */
export async function ensureLocalKey(file: string, keys: ApiKeyStore, stage: string): Promise<string> {
  const stored = (await readFile(file, "utf8").catch(() => "")).trim();
  const found = await keys.get(keyIdOf(hashApiKey(stored)));
  if (found && isLive(found, Date.now())) return stored;
  const key = generateApiKey(stage);
  await writeFile(file, `${key}\n`); // first, because a key that nobody has would stay
  await keys.add(newApiKeyRecord(key, { owner: "npm start", scopes: [...scopes], createdAt: Date.now() }));
  return key;
}
