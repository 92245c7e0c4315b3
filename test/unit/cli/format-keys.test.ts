import { expect, describe as group, it } from "@jest/globals";
import { describeKey, keyDetails, keyTable } from "../../../cli/format-keys.ts";
import type { ApiKeyRecord } from "../../../lib/api-key.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const hour = 3_600_000;

const record = (given: Partial<ApiKeyRecord> = {}): ApiKeyRecord => ({
  hash: "0".repeat(64),
  keyId: "key_94a9db21d2a2b24b",
  owner: "Acme",
  scopes: ["pets:write", "pets:read"],
  createdAt: now - 48 * hour,
  ...given,
});

const rotating = record({ expiresAt: now + 48 * hour, revokeAt: now + hour });

it.each<[string, Partial<ApiKeyRecord>, string]>([
  ["without an end", {}, "live"],
  ["before its expiry", { expiresAt: now + 1 }, "live"],
  ["at its expiry", { expiresAt: now }, "expired"],
  ["replaced, within the grace period", { revokeAt: now + 1, expiresAt: now + hour }, "rotating"],
  ["revoked", { revokeAt: now }, "revoked"],
  ["revoked before it expired", { revokeAt: now - 2, expiresAt: now - 1 }, "revoked"],
  ["expired before its grace period ended", { revokeAt: now - 1, expiresAt: now - 2 }, "expired"],
])("the state of a key: %s", (_when, given, state) => {
  expect(describeKey(record(given), now).state).toBe(state);
});

it("the JSON of a key has sorted scopes and times in ISO 8601, and not the hash", () => {
  expect(describeKey(rotating, now)).toEqual({
    keyId: "key_94a9db21d2a2b24b",
    owner: "Acme",
    state: "rotating",
    scopes: ["pets:read", "pets:write"],
    createdAt: "2026-11-19T12:00:00.000Z",
    expiresAt: "2026-11-23T12:00:00.000Z",
    revokeAt: "2026-11-21T13:00:00.000Z",
  });
  expect(describeKey(record(), now)).toMatchObject({ expiresAt: null, revokeAt: null });
});

it.each([
  [record(), "Expires  never"],
  [rotating, "Expires  2026-11-23T12:00:00.000Z\nUntil    2026-11-21T13:00:00.000Z"],
  [record({ revokeAt: now }), "Expires  never\nRevoked  2026-11-21T12:00:00.000Z"],
])("the record of a key has a field per line: %#", (given, end) => {
  const start = `Key ID   key_94a9db21d2a2b24b\nOwner    Acme\nState    ${describeKey(given, now).state}\n`;
  const middle = "Scopes   pets:read, pets:write\nCreated  2026-11-19T12:00:00.000Z\n";
  expect(keyDetails(given, now)).toBe(start + middle + end);
});

group("the table", () => {
  it("has a line for each key, with its state and when that ends", () => {
    const records = [
      record(),
      record({ expiresAt: now + 48 * hour }),
      record({ revokeAt: now + hour }),
      record({ expiresAt: now - hour, scopes: ["pets:read"] }),
      record({ revokeAt: now - hour }),
    ];
    expect(keyTable(records, now).split("\n")).toEqual([
      "KEY ID                STATE                             SCOPES      OWNER",
      "key_94a9db21d2a2b24b  live                              read,write  Acme",
      "key_94a9db21d2a2b24b  live until 2026-11-23             read,write  Acme",
      "key_94a9db21d2a2b24b  rotating until 2026-11-21 13:00Z  read,write  Acme",
      "key_94a9db21d2a2b24b  expired 2026-11-21                read        Acme",
      "key_94a9db21d2a2b24b  revoked 2026-11-21                read,write  Acme",
    ]);
  });

  it.each([
    ["A".repeat(100), "AAAAAAAAAAA…"],
    ["🐕".repeat(100), "🐕🐕🐕🐕🐕🐕🐕🐕🐕🐕🐕…"],
    ["ABCDEFGHIJKL", "ABCDEFGHIJKL"],
  ])("has at most 80 characters in a line: %s", (name, shown) => {
    const [, row = ""] = keyTable([record({ owner: name, revokeAt: now + hour })], now).split("\n");
    expect([row.endsWith(` ${shown}`), [...row].length]).toEqual([true, 80]);
  });
});
