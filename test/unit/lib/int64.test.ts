import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseJson } from "../../../lib/http/json.ts";
import { INT64_MAX, INT64_MIN, parseInt64 } from "../../../lib/int64.ts";

const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });

describe("int64", () => {
  it("is read from its one decimal form", () => {
    const read = (n: bigint) => expect(parseInt64(String(n))).toBe(n);
    fc.assert(fc.property(int64, read), { examples: [[INT64_MIN], [INT64_MAX]] });
  });

  it("is not read from any other text", () => {
    const beyond = [INT64_MAX + 1n, INT64_MIN - 1n].map(String);
    const others = ["", "-", "-0", "+1", "01", "1.0", "1e3", " 1", "1 ", "0x1", "١", "1n", "9".repeat(1e6)];
    for (const text of [...beyond, ...others]) expect(parseInt64(text)).toBeUndefined();
  });
});

describe("JSON", () => {
  it.each([
    ["-0", 0n],
    ["5.0", 5n],
    ["-0.00e+999999999", 0n],
    ["1e3", 1000n],
    ["1.5E+3", 1500n],
    ["-0.15e+2", -15n],
    ["9007199254740993.000", 9007199254740993n],
    ["9.00719925474099e15", 9007199254740990n],
  ])("reads the integer %s digit for digit", (text, integer) => {
    expect(parseJson(text)).toBe(integer);
  });

  const fractions = ["5.5", "0.00100", "1e-1", "15e-2", "0.05e1", "1e-999999999", "4503599627370497.5"];
  const rounded = ["1.0000000000000001e0", "1e16", "1e400"]; // what JavaScript rounds
  it.each([...fractions, ...rounded])("leaves %s a number", (text) =>
    expect(parseJson(text)).toBe(Number(text)),
  );

  it("reads every int64 the same with and without a decimal point, and 15 digits with an exponent", () => {
    fc.assert(fc.property(int64, (n) => expect([parseJson(`${n}`), parseJson(`${n}.0`)]).toEqual([n, n])));
    fc.assert(
      fc.property(fc.integer({ min: 1 - 10 ** 15, max: 10 ** 15 - 1 }), (n) =>
        expect(parseJson(n.toExponential())).toBe(BigInt(n)),
      ),
    );
  });

  it("reads everything else as JSON.parse does", () => {
    fc.assert(
      fc.property(fc.json({ depthSize: "medium" }), (text) => {
        const rounded = JSON.parse(text, (_key, value) => (Number.isInteger(value) ? "integer" : value));
        const exact = JSON.stringify(parseJson(text), (_key, value) =>
          typeof value === "bigint" || Number.isInteger(value) ? "integer" : value,
        );
        expect(JSON.parse(exact)).toEqual(rounded);
      }),
    );
  });
});
