import { readFile, writeFile } from "node:fs/promises";
import { generateApiKey, hashApiKey, isApiKeyOf, isLive, recordOf, scopes } from "../lib/api-key.ts";
import type { KeyStore } from "../lib/dynamo/key-store.ts";

/**
 * Returns the key of the local service: the one in the file, or a new one the first time and when the old
 * one was revoked. It is the one key that is written down, for it opens nothing but the data beside it.
 *
 * @param file where the key is kept, readable by its owner alone
 * @param stage the local stage's name, part of the key
 */
export async function localKey(file: string, keys: KeyStore, stage: string): Promise<string> {
  const now = Date.now();
  const kept = await readFile(file, "utf8").then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    },
  );
  const record = await keys.find(hashApiKey(kept));
  if (record && isLive(record, now)) return kept;

  // A store that was emptied, or another one, does not know the key yet.
  const key = record || !isApiKeyOf(stage, kept) ? generateApiKey(stage) : kept;
  await keys.add(recordOf(key, { name: "npm start", scopes: [...scopes], createdAt: now }));
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  return key;
}
