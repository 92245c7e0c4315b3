import { type ApiKeyRecord, endOf, generateApiKey, isLive, newApiKeyRecord } from "../lib/api-key.ts";
import type { ApiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { isoTime } from "./format-keys.ts";

/** Shows a new key to its owner. @throws Error if it cannot */
export type ShowKey = (record: ApiKeyRecord, key: string) => Promise<void>;

/**
 * Stores a new key, and then shows it. In this order, every key that was shown works. If the command fails in between, the
 * key works as well, but nobody has it.
 *
 * @param stage the stage that the key is for
 * @throws Error that names the key, because it can be stored although the store has failed
 */
export async function issueKey(
  keys: ApiKeyStore,
  stage: string,
  details: Parameters<typeof newApiKeyRecord>[1],
  show: ShowKey,
): Promise<void> {
  const key = generateApiKey(stage);
  const record = newApiKeyRecord(key, details);
  try {
    await keys.add(record);
    await show(record, key);
  } catch (cause) {
    const message = `The new key ${record.keyId} was not shown. Revoke it, if \`npm run keys -- list\` has it`;
    throw new Error(message, { cause });
  }
}

/**
 * Issues a successor of a key, with the same owner, scopes and lifetime, and ends the key after a grace period.
 *
 * @param grace in milliseconds
 * @returns when the old key stops working, in milliseconds since 1970
 * @throws Error if the key no longer works or is rotating already, of issueKey, or if the old key may not end
 */
export async function rotateKey(
  keys: ApiKeyStore,
  stage: string,
  old: ApiKeyRecord,
  grace: number,
  show: ShowKey,
): Promise<number | undefined> {
  const { keyId, owner, scopes, createdAt, expiresAt } = old;
  const now = Date.now();
  if (!isLive(old, now)) throw new Error(`The key ${keyId} no longer works: issue a new one.`);
  if (old.revokeAt !== undefined)
    throw new Error(
      `The key ${keyId} is already rotating and works until ${isoTime(endOf(old))}: use its successor, or issue a new key.`,
    );
  // The successor gets the whole lifetime that the old key had.
  const details = { owner, scopes, createdAt: now, expiresAt: expiresAt && now + expiresAt - createdAt };
  await issueKey(keys, stage, details, show);
  // Last, because the old key must not end before its successor was shown.
  const revokeAt = now + grace;
  try {
    const ended = await (grace > 0 ? keys.rotate(keyId, revokeAt) : keys.revoke(keyId, now));
    if (!ended) throw new Error("another command changed it at the same time");
  } catch (cause) {
    throw new Error(
      `The new key works. The old key ${keyId} may not end as asked: see \`npm run keys -- show ${keyId}\``,
      { cause },
    );
  }
  return endOf({ ...old, revokeAt });
}
