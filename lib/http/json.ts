import { DEPTH_LIMIT } from "../limits.ts";

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

/** 10^19 does not fit in an int64. */
const MAX_POWER = 18;

/** A JSON number: its whole part, fraction and exponent. */
export const numberPattern = /^(-?\d+)(?:\.(\d+))?(?:e(.+))?$/i;

/**
 * Returns the integer that a JSON number denotes: `5`, `5.0`, `50e-1` and `0.5E1` are the same. Returns undefined for a
 * fraction, and for a number whose power of ten is above MAX_POWER, such as `1e999999999`.
 */
function integerOf(source: string): bigint | undefined {
  const [, whole = "", fraction = "", exponent = "0"] = numberPattern.exec(source) ?? [];
  const digits = BigInt(whole + fraction);
  const power = Number(exponent) - fraction.length; // the number is digits × 10 ** power
  if (digits === 0n) return 0n;
  if (power > MAX_POWER || -power > source.length) return undefined;
  if (power >= 0) return digits * 10n ** BigInt(power);
  const scale = 10n ** BigInt(-power);
  return digits % scale === 0n ? digits / scale : undefined;
}

/** Returns whether a value has more levels of objects and arrays, without reading what is deeper. */
const isDeeper = (value: unknown, levels: number): boolean =>
  value instanceof Object &&
  (levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1)));

/**
 * Reads JSON without rounding integers.
 *
 * @param text a JSON text (RFC 8259)
 * @returns its value, with every integer as a bigint, except those whose power of ten is above MAX_POWER
 * @throws SyntaxError when the text is not JSON; RangeError when it has more than DEPTH_LIMIT levels
 */
export function parseJson(text: string): unknown {
  // Far beyond the limit, JSON.parse itself throws a RangeError: with a reviver, it calls itself for each level.
  const value = JSON.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source ? (integerOf(source) ?? value) : value,
  );
  if (isDeeper(value, DEPTH_LIMIT)) throw new RangeError("The JSON is nested too deeply.");
  return value;
}

/** Writes what JSON.stringify accepts, and bigints digit for digit. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, member) =>
    typeof member === "bigint" ? JSON.rawJSON(String(member)) : member,
  );
}
