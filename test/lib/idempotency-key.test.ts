import { expect, it } from "@jest/globals";
import fc from "fast-check";
import { formatIdempotencyKey, parseIdempotencyKey } from "../../lib/idempotency-key.ts";

const printable = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 255,
});

it("reads any printable ASCII quoted, and bare unless it needs quotes", () => {
  fc.assert(
    fc.property(printable, (key) => {
      expect(parseIdempotencyKey(formatIdempotencyKey(key))).toBe(key);
      if (!/^"|^ | $/.test(key)) expect(parseIdempotencyKey(key)).toBe(key);
    }),
    { examples: [["x".repeat(255)], ["\\".repeat(255)]] },
  );
});

it.each([
  ['a"', 'a"'],
  ["a\\b", "a\\b"],
  ['"a"', "a"],
  ['" a "', " a "],
  ['"a\\"b\\\\"', 'a"b\\'],
])("reads %j as the key %j", (text, key) => expect(parseIdempotencyKey(text)).toBe(key));

const malformed = ["", '""', '"', " a", "a ", '"a', '"a"b', '"a";x=1', '"a\\b"', '"a"b"'];
const unprintable = ["é", "a\tb", "a\u0000"];
const tooLong = ["x".repeat(256), formatIdempotencyKey("x".repeat(256))];

it.each([...malformed, ...unprintable, ...tooLong])("reads no key from %j", (text) =>
  expect(parseIdempotencyKey(text)).toBeUndefined(),
);
