import { readFile, writeFile } from "node:fs/promises";
import { generateApiKey, hashApiKey, keyIdOf, scopes } from "../../lib/api-key.ts";
import type { KeyStore } from "../../lib/dynamo/key-store.ts";

/**
 * Returns the key of the local service: the one in the file, or a new one the first time. It is the one
 * key that is written down, for it opens nothing but the data beside it.
 *
 * @param file where the key is kept, readable by its owner alone
 * @param stage the local stage's name, part of the key
 */
export async function localKey(file: string, keys: KeyStore, stage: string): Promise<string> {
  const kept = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  const key = kept?.trim() || generateApiKey(stage);
  const hash = hashApiKey(key);
  // A store that was emptied, or another one, does not know the key yet.
  if (!(await keys.find(hash))) {
    await keys.put({
      hash,
      keyId: keyIdOf(hash),
      name: "npm start",
      scopes: [...scopes],
      createdAt: Date.now(),
    });
  }
  if (!kept) await writeFile(file, `${key}\n`, { mode: 0o600 });
  return key;
}
