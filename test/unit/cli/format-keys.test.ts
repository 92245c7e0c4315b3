import { expect, it } from "@jest/globals";
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
])("the record of a key says when it ends: %#", (given, end) => {
  expect(keyDetails(given, now).endsWith(`\nCreated  2026-11-19T12:00:00.000Z\n${end}`)).toBe(true);
});

it.each([
  ["Acme", "Acme"],
  ["🐕".repeat(100), "…"],
])("the table has a line of at most 80 characters for each key, with its state: %s", (owner, shown) => {
  const ends = [
    {},
    { expiresAt: now + 1 },
    { revokeAt: now + hour },
    { expiresAt: now - hour },
    { revokeAt: now },
  ];
  const records = ends.map((end) => record({ owner, ...end }));
  const [head = "", ...rows] = keyTable(records, now).split("\n");
  expect(rows).toHaveLength(records.length);
  for (const [n, row] of rows.entries()) {
    expect(row).toMatch(
      new RegExp(`^key_94a9db21d2a2b24b  ${describeKey(records[n] ?? rotating, now).state}\\b.* read,write `),
    );
    expect([[...row].length <= 80, row.endsWith(shown)]).toEqual([true, true]);
    expect(row.indexOf("read,write")).toBe(head.indexOf("SCOPES"));
  }
});
