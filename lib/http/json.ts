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
 * Reads JSON without rounding integers.
 *
 * @param text a JSON text (RFC 8259)
 * @returns its value, with every integer as a bigint; `5.0` is the integer 5
 * @throws SyntaxError when the text is not JSON; RangeError when it is nested too deeply to read
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) => {
    const integer = typeof value === "number" && source && /^(-?\d+)(?:\.0+)?$/.exec(source)?.[1];
    return integer ? BigInt(integer) : value;
  });
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
