import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

/** What a key can do: `pets:read` allows the GET operations, `pets:write` all others. Source: contract 6.3. */
export const scopes = ["pets:read", "pets:write"] as const;
export type Scope = (typeof scopes)[number];

/** Returns whether a text names a scope. */
export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text);

/** What is stored about a key. The key itself is not stored. */
export interface ApiKeyRecord {
  /** SHA-256 of the key, in hexadecimal */
  hash: string;
  /** the public name of the key in lists and logs */
  keyId: string;
  /** whom the key was issued to */
  owner: string;
  scopes: Scope[];
  /** this and the other times are milliseconds since 1970 */
  createdAt: number;
  /** when the key stops working; REVOKED, NO_END, or NaN if it is not stored */
  endsAt: number;
}

/**
 * The end of a key that works until it is revoked: the last time that a Date holds. Every key has an end, so that a
 * key whose end was lost does not work.
 */
export const NO_END = 8_640_000_000_000_000;

/** The end of a key that was revoked. 0 is before every clock, so a wrong clock of the operator does not matter. */
export const REVOKED = 0;

/** Returns whether a stored key has not ended. @param now milliseconds since 1970 */
export const isLive = ({ endsAt }: ApiKeyRecord, now: number) => now < endsAt;

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
// 62 ** 27 is a little more than 2 ** 160, and 62 ** 6 more than 2 ** 32.
const RANDOM_LENGTH = 27;
const CHECKSUM_LENGTH = 6;

/** How every key begins, in lower-case letters. */
export const KEY_PREFIX = "ask";

// API Gateway reads these patterns as Java does, this code as JavaScript does: they have the same meaning in both.

/** The pattern of every key. */
export const apiKeyPattern = `${KEY_PREFIX}_[a-z][a-z0-9]*_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}`;

/**
 * The pattern of an `Authorization` header, with the key as its group. The gateway rejects other text without calling the
 * authorizer. Several spaces are valid (RFC 9110, 11.4); AWS WAF counts all spellings of a key together.
 */
export const authorizationPattern = `^[Bb][Ee][Aa][Rr][Ee][Rr] +(${apiKeyPattern})$`;

/** Masks what looks like an API key or the start of one, also if its underscores are percent-encoded. */
export const maskApiKeys = (text: string) =>
  text.replaceAll(new RegExp(`${KEY_PREFIX}(_|%5f)[\\w%]*`, "gi"), `${KEY_PREFIX}_***`);

function withChecksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return text + digits;
}

/**
 * Generates an API key: prefix, stage, 160 random bits and a checksum. Scanners for leaked secrets can recognize it, and the
 * authorizer rejects a mistyped key without a look-up.
 *
 * @param stage the stage that the key is for: lower-case letters and digits
 */
export function generateApiKey(stage: string): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62.charAt(randomInt(62))).join("");
  return withChecksum(`${KEY_PREFIX}_${stage}_${random}`);
}

/** Returns the key in an `Authorization` header if this stage can have issued it (contract 6.4), without a look-up. */
export function keyIn(authorization: string, stage: string): string | undefined {
  const [, key = ""] = new RegExp(authorizationPattern).exec(authorization) ?? [];
  const isOwn = key.startsWith(`${KEY_PREFIX}_${stage}_`);
  return isOwn && withChecksum(key.slice(0, -CHECKSUM_LENGTH)) === key ? key : undefined;
}

/**
 * Returns the form in which a key is stored and compared: SHA-256 in hexadecimal. A fast hash is enough, because 160 random
 * bits cannot be guessed.
 */
export function hashApiKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/**
 * Returns the public id of a key, under which it is stored. It is a part of the hash, so operators can find the owner of a
 * leaked key.
 */
export function keyIdOf(hash: string): string {
  return `key_${hash.slice(0, 16)}`;
}

/** Returns the record to store for a key, which has only its hash. @param details the rest of the record */
export function newApiKeyRecord(
  key: string,
  details: Pick<ApiKeyRecord, "owner" | "scopes" | "createdAt"> & { endsAt?: number },
): ApiKeyRecord {
  const hash = hashApiKey(key);
  return { ...details, endsAt: details.endsAt ?? NO_END, hash, keyId: keyIdOf(hash) };
}
