// TypeScript's library does not declare these parts of the language yet.
declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): unknown;
  }
}

/**
 * Returns the integer that a JSON number denotes, or undefined for a fraction. Without an exponent, no digit is lost. With
 * one, JavaScript's number is exact up to 15 digits and 2^53. All other numbers with an exponent count as fractions.
 */
function integerOf(number: number, source: string): bigint | undefined {
  const [, digits] = /^(-?\d+)(?:\.0+)?$/.exec(source) ?? [];
  if (digits) return BigInt(digits);
  return /^-?[\d.]{1,16}e\+?\d/i.test(source) && Number.isSafeInteger(number) ? BigInt(number) : undefined;
}

/**
 * Reads JSON without rounding integers.
 *
 * @param text a JSON text (RFC 8259)
 * @returns its value, with every integer as a bigint: `5`, `5.0` and `0.5e1` are the same
 * @throws SyntaxError when the text is not JSON; RangeError when it is nested too deeply to read
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source ? (integerOf(value, source) ?? value) : value,
  );
}

/**
 * Writes JSON with every bigint digit for digit.
 *
 * @param value what JSON.stringify accepts, and bigints
 */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, member) =>
    typeof member === "bigint" ? JSON.rawJSON(String(member)) : member,
  );
}
