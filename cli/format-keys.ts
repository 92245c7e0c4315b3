import { type ApiKeyRecord, endOf, isLive } from "../lib/api-key.ts";
import { escapeControls } from "./escape-controls.ts";

const WIDTH = 80;

/** Formats a time for operators and scripts: ISO 8601 in UTC, or null. */
export const isoTime = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());

/** Returns the state of a key. A `rotating` key works until its successor replaces it. */
function stateOf(record: ApiKeyRecord, now: number) {
  if (isLive(record, now)) return record.revokeAt === undefined ? "live" : "rotating";
  return endOf(record) === record.revokeAt ? "revoked" : "expired";
}

/**
 * Returns what operators see of a key, without its hash.
 *
 * @param now milliseconds since 1970, for the state
 */
export function describeKey(record: ApiKeyRecord, now: number) {
  const { keyId, owner, scopes, createdAt, expiresAt, revokeAt } = record;
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

/** Formats pairs of a label and a value, one per line. */
export const labelledLines = (pairs: [string, string][]) =>
  pairs.map(([label, value]) => `${label.padEnd(9)}${escapeControls(value)}`).join("\n");

/** Formats everything about a key, one field per line. */
export function keyDetails(record: ApiKeyRecord, now: number): string {
  const { keyId, owner, state, scopes, createdAt, expiresAt, revokeAt } = describeKey(record, now);
  return labelledLines([
    ["Key ID", keyId],
    ["Owner", owner],
    ["State", state],
    ["Scopes", scopes.join(", ")],
    ["Created", createdAt ?? ""],
    ["Expires", expiresAt ?? "never"],
    ...(revokeAt ? ([[state === "rotating" ? "Until" : "Revoked", revokeAt]] as [string, string][]) : []),
  ]);
}

function stateCell(record: ApiKeyRecord, now: number): string {
  const state = stateOf(record, now);
  const end = isoTime(endOf(record));
  if (end === null) return state;
  const date = end.slice(0, 10);
  if (state === "rotating") return `rotating until ${date} ${end.slice(11, 16)}Z`;
  return state === "live" ? `live until ${date}` : `${state} ${date}`;
}

/** Shortens a text to a number of characters. */
function shorten(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}

/** Pads the cells of a column to the same width. */
function column(cells: string[]): string[] {
  const width = Math.max(...cells.map((cell) => cell.length));
  return cells.map((cell) => cell.padEnd(width));
}

/**
 * Formats keys as a table of 80 characters a line. It shortens long owners.
 *
 * @param now milliseconds since 1970, for the states
 */
export function keyTable(records: ApiKeyRecord[], now: number): string {
  const ids = column(["KEY ID", ...records.map(({ keyId }) => keyId)]);
  const states = column(["STATE", ...records.map((record) => stateCell(record, now))]);
  const scopesOf = (record: ApiKeyRecord) =>
    describeKey(record, now).scopes.join(",").replaceAll("pets:", "");
  const scopes = column(["SCOPES", ...records.map(scopesOf)]);
  const owners = ["OWNER", ...records.map(({ owner }) => owner)];
  const rows = owners.map((owner, row) => {
    const start = `${ids[row]}  ${states[row]}  ${scopes[row]}  `;
    return start + shorten(escapeControls(owner), WIDTH - start.length);
  });
  return rows.join("\n");
}
