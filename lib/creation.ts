import { createHash, randomUUID } from "node:crypto";
import type { IdempotencyToken } from "./pet.ts";

// What the attempts of one creation share, whichever version of the service handles them. Never change how a creation, its
// ids and its fingerprint are computed: a retry of an earlier request would add a second pet, or would be refused.

/** 132 bits of SHA-256 in 22 characters: a list reads them with each pet. */
const digest = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 22);

/** Returns the id of a creation: always the same one for a token, and a random one without a token. */
export const creationIdOf = (token?: IdempotencyToken): string =>
  token ? digest(JSON.stringify([token.keyId, token.idempotencyKey])) : randomUUID();

const bigintAsText = (_name: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

/**
 * Returns the fingerprint of the pet that a creation adds: attempts with the same one ask for the same pet. It includes the
 * creation, so that equal pets have different fingerprints. The fingerprint stays when a pet is deleted, and names are easy
 * to guess.
 */
export const fingerprintOf = (creationId: string, pet: object): string =>
  digest(JSON.stringify([creationId, Object.entries(pet).sort()], bigintAsText));

/**
 * Returns the id of the pet that a creation adds: the first 53 bits of a hash, which every client reads exactly.
 * Source: contract 2.7.
 *
 * @param attempt 0, or more if other creations have the ids of the earlier attempts
 */
export function petIdOf(creationId: string, attempt: number): bigint {
  const hash = createHash("sha256").update(`${attempt} ${creationId}`).digest();
  return hash.readBigUInt64BE() >> 11n || 1n;
}

/** Larger than every id, so that a place in the list reads as the time and the id, digit for digit. */
const ID_RANGE = 10n ** 16n;

/**
 * Returns the place of a pet in the list: by the time at which it is added, then by its id. Source: contract 3.1.
 *
 * @param time milliseconds since 1970
 */
export const creationOrder = (time: number, id = 0n): bigint => BigInt(time) * ID_RANGE + id;
