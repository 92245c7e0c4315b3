import { createHash, randomUUID } from "node:crypto";

// What the attempts of one creation share, whichever version of the service handles them. Never change how a creation, its
// ids and its fingerprint are computed: a retry of an earlier request would add a second item, or would be refused.

/** Identifies a creation, so that its retries add only one item. */
export interface IdempotencyToken {
  /** id of the caller's API key: the same Idempotency-Key with another API key is another creation */
  keyId: string;
  /** as the caller sent it, without quotes */
  idempotencyKey: string;
}

/** 132 bits of SHA-256 in 22 characters: a list reads them with each pet. */
const digest = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 22);

/** Returns the id of a creation: always the same id for a token, and a random id without a token. */
export const creationIdOf = (token?: IdempotencyToken): string =>
  token ? digest(JSON.stringify([token.keyId, token.idempotencyKey])) : randomUUID();

const bigintAsText = (_name: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

/**
 * Returns the fingerprint of the item that a creation adds. A retry must have the fingerprint of the first attempt. It
 * outlives the item, so it includes the creation: nobody can test a guess against all items.
 */
export const fingerprintOf = (creationId: string, fields: object): string =>
  digest(JSON.stringify([creationId, Object.entries(fields).sort()], bigintAsText));

/**
 * Returns the id of the item that a creation adds: the first 53 bits of a hash, which every client reads exactly.
 * Source: contract 2.7.
 *
 * @param attempt 0, or more if other creations have the ids of the earlier attempts
 */
export function idOf(creationId: string, attempt: number): bigint {
  const hash = createHash("sha256").update(`${attempt} ${creationId}`).digest();
  return hash.readBigUInt64BE() >> 11n || 1n;
}

/** Larger than every id, so that a place in the list reads as the time and the id, digit for digit. */
const ID_RANGE = 10n ** 16n;

/**
 * Returns the place of an item in the list: by the time at which it is added, then by its id. Source: contract 3.1.
 *
 * @param time milliseconds since 1970
 */
export const creationOrder = (time: number, id = 0n): bigint => BigInt(time) * ID_RANGE + id;
