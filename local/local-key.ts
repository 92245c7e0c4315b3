import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import {
  generateApiKey,
  hashApiKey,
  isApiKeyOf,
  isLive,
  keyIdOf,
  newApiKeyRecord,
  scopes,
} from "../lib/api-key.ts";
import type { ApiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { writeSecret } from "./data-folder.ts";

/**
 * Returns the key of the local service: the one in the file, or a new one if there is none or it no longer works. No other
 * key is ever stored as text; this one gives access only to the data in the same folder.
 *
 * @param file readable only by its owner
 * @param stage the local stage's name, part of the key
 */
export async function ensureLocalKey(file: string, keys: ApiKeyStore, stage: string): Promise<string> {
  const now = Date.now();
  const stored = existsSync(file) ? (await readFile(file, "utf8")).trim() : "";
  const found = await keys.get(keyIdOf(hashApiKey(stored)));
  if (found && isLive(found, now)) return stored;

  // A store that is new or was emptied does not have the key yet.
  const key = found || !isApiKeyOf(stage, stored) ? generateApiKey(stage) : stored;
  await keys.add(newApiKeyRecord(key, { owner: "npm start", scopes: [...scopes], createdAt: now }));
  await writeSecret(file, `${key}\n`);
  return key;
}
