import { expect, it } from "@jest/globals";
import fc from "fast-check";
import { decodeCursor, encodeCursor } from "../../lib/cursor.ts";

it("returns its position, has one length, and needs no escaping in a URL", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 112n - 1n }), (order) => {
      const cursor = encodeCursor(order);
      expect(decodeCursor(cursor)).toBe(order);
      expect(cursor).toHaveLength(24);
      expect(cursor).toMatch(/^[\w-]+$/);
    }),
  );
});

// By an independent implementation: the place as 14 bytes, and the first 4 bytes of their SHA-256.
it.each([
  [1n, "AAAAAAAAAAAAAAAAAAHexMVA"],
  [17951328000000114677519594330n, "AAA6AP2Q1HrYnizRs1oiycEP"],
])("writes %s as %s", (order, cursor) => expect(encodeCursor(order)).toBe(cursor));

it.each([-1n, 2n ** 112n])("has no place for %s", (order) => {
  expect(() => encodeCursor(order)).toThrow(RangeError);
});

it("is refused when it is any other text, or has anything added, removed or changed", () => {
  const cursor = encodeCursor(123456789n);
  for (const text of [
    "",
    `${cursor}=`,
    ` ${cursor}`,
    `${cursor}!`,
    cursor.slice(0, -1),
    cursor.toLowerCase(),
  ])
    expect(decodeCursor(text)).toBeUndefined();
  fc.assert(
    fc.property(fc.nat(cursor.length - 1), fc.constantFrom(..."AZaz09-_+/"), (index, character) => {
      const changed = cursor.slice(0, index) + character + cursor.slice(index + 1);
      expect(decodeCursor(changed)).toBe(changed === cursor ? 123456789n : undefined);
    }),
  );
});
