import { expect, it } from "@jest/globals";
import fc from "fast-check";
import { decodeCursor, encodeCursor } from "../../lib/cursor.ts";
import { INT64_MAX } from "../../lib/int64.ts";

it("returns the position that it was made from, has one length, and needs no escaping in a URL", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: INT64_MAX }), (id) => {
      const cursor = encodeCursor(id);
      expect(decodeCursor(cursor)).toBe(id);
      expect(cursor).toHaveLength(16);
      expect(cursor).toMatch(/^[\w-]+$/);
    }),
  );
});

// By an independent implementation: the id as 8 bytes, and the first 4 bytes of their SHA-256.
it.each([
  [1n, "AAAAAAAAAAHNJmIV"],
  [114677519594330n, "AABoTHDRs1qKLYVF"],
])("writes %s as %s", (id, cursor) => expect(encodeCursor(id)).toBe(cursor));

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
