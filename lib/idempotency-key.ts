import { IDEMPOTENCY_HOURS } from "./limits.ts";
import { fromText, must } from "./validation.ts";

/**
 * An `Idempotency-Key` as a client sends it: 1 to 255 printable ASCII characters, bare or as a structured string. A bare
 * key does not start with a quote, and has no space at its ends, because HTTP removes them (RFC 9110, 5.5).
 * `[` is `\x5B`, because Java and Ruby read a `[` in a class as the start of another class. Source: contract 4.7.
 */
const idempotencyKeyPattern = /^(?:[!#-~](?:[ -~]{0,253}[!-~])?|"(?:[ !#-\x5B\]-~]|\\["\\]){1,255}")$/;

/**
 * Reads an `Idempotency-Key`. It can be a structured string (draft-ietf-httpapi-idempotency-key-header-07 and RFC 9651,
 * 3.3.3) or bare, as many clients send it: `"8e03978e"` and `8e03978e` are the same. Returns undefined for other text.
 */
export function parseIdempotencyKey(text: string): string | undefined {
  if (!idempotencyKeyPattern.test(text)) return undefined;
  return text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : text;
}

/** Writes an `Idempotency-Key` as a structured string, which parseIdempotencyKey reads. */
export const formatIdempotencyKey = (key: string) => `"${key.replaceAll(/["\\]/g, "\\$&")}"`;

/** The header `Idempotency-Key`. */
export const IdempotencyKey = fromText(
  parseIdempotencyKey,
  formatIdempotencyKey,
  must(
    'be 1 to 255 printable ASCII characters. If it starts with a quote, it must end with one and escape \\ and "',
  ),
  {
    type: "string",
    minLength: 1,
    maxLength: 512, // a structured string of 255 characters, each with a backslash, and the quotes
    pattern: idempotencyKeyPattern.source,
    description: `Makes retries safe. The same \`Idempotency-Key\` with the same API key and the same animal adds nothing and returns the first response again, for at least ${IDEMPOTENCY_HOURS} hours and possibly for ever. Send a new UUID for each creation`,
    examples: ["8e03978e-40d5-43dd-bc93-6894a57f9324"],
  },
);
