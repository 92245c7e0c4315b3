import { createHash } from "node:crypto";
import { expect, it, jest } from "@jest/globals";
import fc from "fast-check";
import {
  endOf,
  generateApiKey,
  hashApiKey,
  isApiKeyOf,
  isLive,
  keyIdOf,
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
  const keys = generate();
  expect(guessable).not.toHaveBeenCalled();
  const random = keys.map((key) => key.slice("ask_staging_".length, -6));
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
  ["a place more", "ask_local_00000000000000000000000000002xxPXB"],
  ["another symbol", "ask_local_00000000000000000000000000-0IAASi"],
  ["text before it", "Xask_local_0000000000000000000000000001vcK3a"],
  ["more letters in its stage", "ask_locals_00000000000000000000000000045PZSA"],
  ["a stage in capitals", "ask_LOCAL_0000000000000000000000000000G0JNE"],
])("is refused with %s, even if its checksum is right", (_difference, text) => {
  expect(isApiKeyOf("local", text)).toBe(false);
  expect(isApiKeyOf("local", "ask_local_0000000000000000000000000001zjBqf")).toBe(true);
});

const record = { hash: "", keyId: "", owner: "", scopes: [], createdAt: 0 };

it.each([{ expiresAt: 5 }, { revokeAt: 5 }, { revokeAt: 5, expiresAt: 6 }, { revokeAt: 6, expiresAt: 5 }])(
  "works until it expires or is revoked, whichever comes first: %j",
  (given) => {
    const ending = { ...record, ...given };
    const live = { at4: isLive(ending, 4), at5: isLive(ending, 5), at6: isLive(ending, 6) };
    expect({ end: endOf(ending), ...live }).toEqual({ end: 5, at4: true, at5: false, at6: false });
    expect({ end: endOf(record), live: isLive(record, 6) }).toEqual({ end: undefined, live: true });
  },
);

it("is stored as its SHA-256, which also names it in public", () => {
  const key = generateApiKey("local");
  const hash = createHash("sha256").update(key).digest("hex");
  const details = { owner: "test", scopes: ["pets:read" as const], createdAt: 1, expiresAt: 2 };
  const keyId = `key_${hash.slice(0, 16)}`;
  expect({ hash: hashApiKey(key), keyId: keyIdOf(hash) }).toEqual({ hash, keyId });
  expect(newApiKeyRecord(key, details)).toEqual({ ...details, hash, keyId });
});
