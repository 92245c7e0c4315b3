import { createHash } from "node:crypto";
import { expect, it, jest } from "@jest/globals";
import fc from "fast-check";
import {
  generateApiKey,
  hashApiKey,
  isApiKeyOf,
  isLive,
  keyIdOf,
  NO_END,
  newApiKeyRecord,
} from "../../lib/api-key.ts";

const generate = () => Array.from({ length: 2000 }, () => generateApiKey("staging"));

it("is accepted by its own stage, and by no other", () => {
  expect(generate().filter((key) => !isApiKeyOf("staging", key) || isApiKeyOf("production", key))).toEqual(
    [],
  );
});

it("is drawn from 62 symbols in 27 places by the system's random generator", () => {
  const guessable = jest.spyOn(Math, "random");
  const random = generate().map((key) => key.slice("ask_staging_".length, -6));
  expect(guessable).not.toHaveBeenCalled();
  for (let place = 0; place < 27; place++) expect(new Set(random.map((text) => text[place])).size).toBe(62);
});

it("is refused with any character changed, and when it is cut or padded", () => {
  const key = generateApiKey("staging");
  for (const text of ["", key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`, key.toUpperCase()])
    expect(isApiKeyOf("staging", text)).toBe(false);
  const character = fc.constantFrom(..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_- ");
  fc.assert(
    fc.property(fc.nat(key.length - 1), character, (index, other) => {
      const changed = key.slice(0, index) + other + key.slice(index + 1);
      expect(isApiKeyOf("staging", changed)).toBe(changed === key);
    }),
  );
});

// The checksums are CRC32 in base62, by an independent implementation.
it.each([
  ["a place less", "ask_local_000000000000000000000000004PbICg"],
  ["another symbol", "ask_local_00000000000000000000000000-0IAASi"],
  ["text before it", "Xask_local_0000000000000000000000000001vcK3a"],
  ["a stage in capitals", "ask_LOCAL_0000000000000000000000000000G0JNE"],
])("is refused with %s, even if its checksum is right", (_difference, text) => {
  expect(isApiKeyOf("local", text)).toBe(false);
  expect(isApiKeyOf("local", "ask_local_0000000000000000000000000001zjBqf")).toBe(true);
});

it.each([
  [5, [true, false, false]],
  [NO_END, [true, true, true]],
  [Number.NaN, [false, false, false]],
])("works until its end, and not if that is lost: %d", (endsAt, live) => {
  const record = { hash: "", keyId: "", owner: "", scopes: [], createdAt: 0, endsAt };
  expect([4, 5, 6].map((now) => isLive(record, now))).toEqual(live);
});

it("is stored as its SHA-256, which also names it in public", () => {
  const key = generateApiKey("local");
  const hash = createHash("sha256").update(key).digest("hex");
  const details = { owner: "test", scopes: ["pets:read" as const], createdAt: 1 };
  const keyId = `key_${hash.slice(0, 16)}`;
  expect({ hash: hashApiKey(key), keyId: keyIdOf(hash) }).toEqual({ hash, keyId });
  expect(newApiKeyRecord(key, details)).toEqual({ ...details, hash, keyId, endsAt: NO_END });
});
