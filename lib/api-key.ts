import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

/** What a key may do: `pets:read` reaches the GET operations, `pets:write` the POST. */
export const scopes = ["pets:read", "pets:write"] as const;
export type Scope = (typeof scopes)[number];

/** Tells whether a text names a scope. */
export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text);

/** A key as it is stored: everything but the key itself. */
export interface ApiKeyRecord {
  /** SHA-256 of the key, in hexadecimal */
  hash: string;
  /** public name of the key in lists and logs */
  keyId: string;
  /** who the key was issued to */
  name: string;
  scopes: Scope[];
  /** this and the other times: milliseconds since 1970 */
  createdAt: number;
  /** from when on it is refused */
  expiresAt?: number | undefined;
  /** from when on it is revoked; a rotated key's time lies ahead */
  revokedAt?: number | undefined;
}

/**
 * Tells whether a stored key is still good.
 *
 * @param now milliseconds since 1970
 */
export function isLive({ expiresAt, revokedAt }: ApiKeyRecord, now: number): boolean {
  return now < Math.min(revokedAt ?? Number.POSITIVE_INFINITY, expiresAt ?? Number.POSITIVE_INFINITY);
}

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
// 62 ** 27 is a little more than 2 ** 160, and 62 ** 6 more than 2 ** 32.
const RANDOM_LENGTH = 27;
const CHECKSUM_LENGTH = 6;

/**
 * A pattern that every key has, for the gateway to refuse other text without calling the authorizer.
 * It is written so that Java's and JavaScript's regular expressions read it alike.
 */
export const apiKeyPattern = `ask_[a-z]+_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}`;

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/**
 * Draws an API key: `ask_<stage>_`, 160 random bits and a checksum, so that a scanner for
 * leaked secrets recognises it and a mistyped one costs no look-up.
 *
 * @param stage the deployment that the key is for, lower-case letters
 */
export function generateApiKey(stage: string): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62.charAt(randomInt(62))).join("");
  const key = `ask_${stage}_${random}`;
  return key + checksum(key);
}

/**
 * Tells whether a text can be a key of this stage, without any look-up.
 *
 * @param text what the client sent as its key
 * @param stage the deployment that must have issued it
 */
export function isApiKeyOf(stage: string, text: string): boolean {
  return (
    new RegExp(`^${apiKeyPattern}$`).test(text) &&
    text.startsWith(`ask_${stage}_`) &&
    checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
  );
}

/**
 * The form in which a key is stored and looked up. A fast hash is enough: 160 random bits cannot be guessed.
 *
 * @returns SHA-256 in hexadecimal
 */
export function hashApiKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/**
 * The public id of a key, taken from its hash so that the owner of a leaked key can be found.
 *
 * @param hash what hashApiKey returned
 */
export function keyIdOf(hash: string): string {
  return `key_${hash.slice(0, 16)}`;
}

/**
 * Makes the record by which a key is recognised.
 *
 * @param key which is not part of the record
 * @param details what the record says besides
 */
export function recordOf(
  key: string,
  details: Pick<ApiKeyRecord, "name" | "scopes" | "createdAt" | "expiresAt">,
): ApiKeyRecord {
  const hash = hashApiKey(key);
  return { ...details, hash, keyId: keyIdOf(hash) };
}
