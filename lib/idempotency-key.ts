/**
 * Reads an `Idempotency-Key`, as the structured string of draft-ietf-httpapi-idempotency-key-header-07
 * (RFC 9651, 3.3.3) or bare, as many clients send it: `"8e03978e"` and `8e03978e` are the same key.
 * Source: contract 4.7.
 *
 * @param text the header's value
 * @returns the key, or undefined when it is not 1 to 255 printable ASCII characters
 */
export function parseIdempotencyKey(text: string): string | undefined {
  const quoted = text.startsWith('"');
  if (quoted && !/^"(?:[ !#-[\]-~]|\\["\\])*"$/.test(text)) return undefined;
  const key = quoted ? text.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : text;
  return /^[ -~]{1,255}$/.test(key) ? key : undefined;
}
