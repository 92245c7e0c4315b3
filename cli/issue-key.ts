import { type ApiKeyRecord, endOf, generateApiKey, isLive, newApiKeyRecord } from "../lib/api-key.ts";
import type { ApiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { isoTime } from "./format-keys.ts";

/** Shows a new key to its owner. It throws if it cannot, or when `interruption` is aborted meanwhile. */
export type ShowKey = (record: ApiKeyRecord, key: string, interruption: AbortSignal) => Promise<void>;

/** Revokes a new key that nobody is to use. @throws Error always: why, and whether the key can still work */
async function revokeNewKey(
  keys: ApiKeyStore,
  key: ApiKeyRecord,
  why: string,
  cause?: unknown,
): Promise<never> {
  const now = Date.now();
  await keys.revoke(key.keyId, now).catch(() => undefined);
  // What is stored decides, because the response to a write can be lost.
  const stored = await keys.find(key.hash).catch(() => key);
  // DynamoDB can still do a write that has not responded in time.
  let state = "may still appear: look it up with `npm run keys -- list` and revoke it";
  if (stored) state = isLive(stored, now) ? "can still work: revoke it" : "was revoked";
  throw new Error(`${why}, and the new key ${key.keyId} ${state}`, { cause });
}

const INTERRUPTIONS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Stores a new key and shows it. If either fails, the key is revoked: Ctrl-C, `kill` and a closed terminal do not end the
 * process before that.
 *
 * @param stage the stage that the key is for
 * @returns the record of the new key
 * @throws Error that says whether the key can still work
 */
export async function issueKey(
  keys: ApiKeyStore,
  stage: string,
  details: Parameters<typeof newApiKeyRecord>[1],
  show: ShowKey,
): Promise<ApiKeyRecord> {
  const key = generateApiKey(stage);
  const record = newApiKeyRecord(key, details);
  const interruption = new AbortController();
  const interrupt = () => interruption.abort(new Error("Interrupted."));
  for (const signal of INTERRUPTIONS) process.on(signal, interrupt);
  try {
    await keys.add(record);
    interruption.signal.throwIfAborted();
    await show(record, key, interruption.signal);
    return record;
  } catch (error) {
    return await revokeNewKey(keys, record, "Issuing failed", interruption.signal.reason ?? error);
  } finally {
    for (const signal of INTERRUPTIONS) process.off(signal, interrupt);
  }
}

/**
 * Issues a successor of a key, with the same owner, scopes and lifetime, and ends the key after a grace period.
 *
 * @param grace in milliseconds
 * @returns when the old key stops working, in milliseconds since 1970
 * @throws Error if the key no longer works or is rotating already, or that says which of both keys can still work
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
  // The old key ends last, because a failure or a crash before that leaves it as it was. In any other order, it could
  // end while nobody has seen its successor.
  const successor = await issueKey(keys, stage, details, show);
  const revokeAt = now + grace;
  const end = grace > 0 ? keys.rotate(keyId, revokeAt) : keys.revoke(keyId, revokeAt);
  const rotated = await end.catch((cause) => {
    // Perhaps only the response was lost. To revoke the successor too could leave no key that works.
    throw new Error(
      `The new key works. The old key ${keyId} may not end: see \`npm run keys -- show ${keyId}\``,
      { cause },
    );
  });
  if (!rotated) {
    const why = `Another command rotated or revoked the key ${keyId} at the same time`;
    await revokeNewKey(keys, successor, why);
  }
  return endOf({ ...old, revokeAt });
}
