import * as z from "zod/mini";
import { must } from "./validation.ts";

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

const int64Rule = must(`be an integer from ${INT64_MIN} to ${INT64_MAX}`);

/** A signed 64-bit integer, held as a bigint so that no digit is lost. Source: contract 1.5. */
export const Int64 = z
  .bigint(int64Rule)
  .check(
    z.gte(INT64_MIN, int64Rule),
    z.lte(INT64_MAX, int64Rule),
    z.meta({ type: "integer", format: "int64", examples: [1] }),
  );

/** Reads an int64 from text; returns undefined when it is not in plain decimal form (contract 5.2). */
export function parseInt64(text: string): bigint | undefined {
  // The length limit prevents BigInt() from reading megabytes of digits.
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}
