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

const INT64_DIGITS = 19;

/**
 * Returns the integer that a JSON number denotes: `5`, `5.0`, `50e-1` and `0.5E1` are the same integer. Returns undefined
 * for a fraction, and for an exponent that needs more digits than an int64 has, such as `1e999999999`.
 */
function integerOf(number: string): bigint | undefined {
  const [mantissa, exponent = 0] = number.split(/e/i) as [string, string?];
  const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
  const sign = whole.startsWith("-") ? "-" : "";
  const digits = (whole + fraction).replace(/^-?0*/, "");
  if (digits === "") return 0n;
  const length = digits.length - fraction.length + Number(exponent);
  if (length > Math.max(digits.length, INT64_DIGITS)) return undefined;
  if (!/^0*$/.test(digits.slice(Math.max(length, 0)))) return undefined;
  return BigInt(sign + digits.slice(0, length).padEnd(length, "0"));
}

/**
 * Reads JSON without rounding integers.
 *
 * @param text a JSON text (RFC 8259)
 * @returns its value, with every integer as a bigint, except those that an exponent makes longer than an int64
 * @throws SyntaxError when the text is not JSON; RangeError when it is nested too deeply to read
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source ? (integerOf(source) ?? value) : value,
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
