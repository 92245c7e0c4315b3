import { expect, it } from "@jest/globals";
import fc from "fast-check";
import { INT64_MAX, INT64_MIN, parseInt64 } from "../../lib/int64.ts";

it("an int64 is read from its one decimal form, and from no other text", () => {
  const read = (n: bigint) => expect(parseInt64(String(n))).toBe(n);
  fc.assert(fc.property(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), read), {
    examples: [[INT64_MIN], [INT64_MAX]],
  });
  const beyond = [INT64_MAX + 1n, INT64_MIN - 1n].map(String);
  const others = ["", "-", "-0", "+1", "01", "1.0", "1e3", " 1", "1 ", "0x1", "١", "1n", "9".repeat(1e6)];
  for (const text of [...beyond, ...others]) expect(parseInt64(text)).toBeUndefined();
});
