import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseJson, stringifyJson } from "../../lib/http/json.ts";
import { INT64_MAX, INT64_MIN, parseInt64 } from "../../lib/int64.ts";

const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });

describe("int64", () => {
  it("survives JSON digit for digit", () => {
    fc.assert(
      fc.property(int64, (n) => expect(stringifyJson(parseJson(`{"n":[${n}]}`))).toBe(`{"n":[${n}]}`)),
    );
  });

  it("is read from its one decimal form", () => {
    fc.assert(fc.property(int64, (n) => expect(parseInt64(String(n))).toBe(n)));
  });

  it("is not read from any other text", () => {
    for (const text of [
      "",
      "-",
      "-0",
      "+1",
      "01",
      "1.0",
      "1e3",
      " 1",
      "1 ",
      "0x1",
      "١",
      "1n",
      "9".repeat(1e6),
    ]) {
      expect(parseInt64(text)).toBeUndefined();
    }
    expect(parseInt64(String(INT64_MAX + 1n))).toBeUndefined();
    expect(parseInt64(String(INT64_MIN - 1n))).toBeUndefined();
  });
});

describe("JSON", () => {
  it("reads an integer written with a zero fraction as that integer, and leaves fractions alone", () => {
    expect(parseJson("[5.00, -0, 5.5, 9007199254740993.0, 1e3]")).toEqual([
      5n,
      0n,
      5.5,
      9007199254740993n,
      1000,
    ]);
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

  it("makes own members of names that objects inherit", () => {
    expect(Object.keys(parseJson('{"__proto__":{"admin":true}}') as object)).toEqual(["__proto__"]);
  });
});
