import { type ApiKeyRecord, endOf, isLive } from "../lib/api-key.ts";
import type { StoredKey } from "../lib/dynamo/api-key-store.ts";
import { escapeControls } from "./escape-controls.ts";

/** Formats a time for operators and scripts: ISO 8601 in UTC, or null. */
export const isoTime = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());

/** Returns the state of a key. A `rotating` key works until its grace period ends. */
function stateOf(record: ApiKeyRecord, now: number) {
  if (isLive(record, now)) return record.revokeAt === undefined ? "live" : "rotating";
  return endOf(record) === record.revokeAt ? "revoked" : "expired";
}

/** Returns what operators see of a key, without its hash. @param now milliseconds since 1970, for the state */
export function describeKey({ keyId, record }: StoredKey, now: number) {
  if (!record) return { keyId, state: "damaged" };
  const { owner, scopes, createdAt, expiresAt, revokeAt } = record;
  return {
    keyId,
    owner,
    state: stateOf(record, now),
    scopes: scopes.toSorted(),
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
    revokeAt: isoTime(revokeAt),
  };
}

/** Formats everything about a key, one field per line, with the API key itself if it is to be shown. */
export function keyDetails(description: ReturnType<typeof describeKey>, key?: string): string {
  const { keyId, owner, state, scopes, createdAt, expiresAt, revokeAt } = description;
  const fields = {
    "Key ID": keyId,
    Owner: owner,
    State: state,
    Scopes: scopes?.join(", "),
    Created: createdAt,
    Expires: expiresAt === null ? "never" : expiresAt,
    [state === "rotating" ? "Works until" : "Revoked"]: revokeAt,
    "API key": key,
  };
  return Object.entries(fields)
    .flatMap(([label, value]) => (value ? `${label.padEnd(13)}${escapeControls(value)}` : []))
    .join("\n");
}

/** The widths of the columns before the owner, which fit every value. */
const WIDTHS = [20, 8, 16, 10];

/** Formats keys as a table, with one line for each. @param now as for describeKey */
export function keyTable(keys: StoredKey[], now: number): string {
  const rows = keys.map((stored) => {
    const { keyId, state, scopes, owner } = describeKey(stored, now);
    if (!stored.record || !scopes) return [keyId, state];
    const end = isoTime(endOf(stored.record))?.slice(0, 16) ?? "never";
    return [keyId, state, end, scopes.join(",").replaceAll("pets:", ""), owner ?? ""];
  });
  return [["KEY ID", "STATE", "ENDS (UTC)", "SCOPES", "OWNER"], ...rows]
    .map((cells) => cells.map((cell, column) => escapeControls(cell).padEnd(WIDTHS[column] ?? 0)).join("  "))
    .join("\n");
}
