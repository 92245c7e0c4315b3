import { expect, it } from "@jest/globals";
import { describeKey, keyDetails, keyTable } from "../../cli/format-keys.ts";
import type { ApiKeyRecord } from "../../lib/api-key.ts";

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
const stored = (given: Partial<ApiKeyRecord>) => ({ keyId: record().keyId, record: record(given) });
const details = (given: Partial<ApiKeyRecord>) => keyDetails(describeKey(stored(given), now));

const rotating = { expiresAt: now + 48 * hour, revokeAt: now + hour };

it.each<[string, Partial<ApiKeyRecord>, string, string]>([
  ["without an end", {}, "live", "never"],
  ["before its expiry", { expiresAt: now + 1 }, "live", "2026-11-21T12:00"],
  ["at its expiry", { expiresAt: now }, "expired", "2026-11-21T12:00"],
  ["replaced, within the grace period", rotating, "rotating", "2026-11-21T13:00"],
  ["revoked", { revokeAt: now }, "revoked", "2026-11-21T12:00"],
  ["revoked before it expired", { revokeAt: now - hour, expiresAt: now - 1 }, "revoked", "2026-11-21T11:00"],
  ["expired while rotating", { revokeAt: now - 1, expiresAt: now - hour }, "expired", "2026-11-21T11:00"],
])("the state and the end of a key: %s", (_when, given, state, end) => {
  expect(describeKey(stored(given), now).state).toBe(state);
  const [head = "", row = ""] = keyTable([stored(given)], now).split("\n");
  expect(row.split(/ {2,}/)).toEqual([record().keyId, state, end, "read,write", "Acme"]);
  for (const [title, cell] of [
    ["STATE", state],
    ["ENDS", end],
    ["SCOPES", "read,write"],
    ["OWNER", "Acme"],
  ])
    expect(row.indexOf(` ${cell}`)).toBe(head.indexOf(` ${title}`));
});

it("the record of a key says when it ends", () => {
  expect(details({})).toMatch(/\nExpires {6}never$/);
  expect(details(rotating)).toMatch(
    /\nExpires {6}2026-11-23T12:00:00.000Z\nWorks until {2}2026-11-21T13:00:00.000Z$/,
  );
  expect(details({ revokeAt: now })).toMatch(/\nRevoked {6}2026-11-21T12:00:00.000Z$/);
});
