import { expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseJson } from "../../../lib/http/json.ts";
import { INT64_MAX, INT64_MIN } from "../../../lib/int64.ts";
import { DEPTH_LIMIT } from "../../../lib/limits.ts";

it.each([
  ["-0", 0n],
  ["0E999999999", 0n],
  ["-0.00e+999999999", 0n],
  ["1e3", 1000n],
  ["-1e3", -1000n],
  ["-150e-1", -15n],
  ["9e18", 9n * 10n ** 18n],
])("reads the integer %s digit for digit", (text, integer) => {
  expect(parseJson(text)).toBe(integer);
});

const fractions = ["5.5", "0.00100", "1e-1", "15e-2", "0.05e1", "1e-999999999", "9007199254740993.5"];
const tooLong = ["1e19", "1e400"]; // exceed an int64, and are not written out
it.each([...fractions, ...tooLong])("leaves %s a number", (text) =>
  expect(parseJson(text)).toBe(Number(text)),
);

it("reads an int64 the same, wherever its decimal point and exponent are", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
      fc.integer({ min: 0, max: 40 }),
      (n, places) => {
        const digits = String(n < 0 ? -n : n).padStart(places + 1, "0");
        const point = digits.length - places;
        const text = `${n < 0 ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}0e${places}`;
        expect(parseJson(text)).toBe(n);
        if (n !== 0n) expect(parseJson(`${n}${"0".repeat(places)}e-${places}`)).toBe(n);
      },
    ),
  );
});

it("reads everything else as JSON.parse does", () => {
  fc.assert(
    fc.property(fc.json({ depthSize: "medium", maxDepth: DEPTH_LIMIT }), (text) => {
      const rounded = JSON.parse(text, (_key, value) => (Number.isInteger(value) ? "integer" : value));
      const exact = JSON.stringify(parseJson(text), (_key, value) =>
        typeof value === "bigint" || Number.isInteger(value) ? "integer" : value,
      );
      expect(JSON.parse(exact)).toEqual(rounded);
    }),
  );
});
