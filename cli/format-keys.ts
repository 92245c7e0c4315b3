import { type ApiKeyRecord, endOf, isLive } from "../lib/api-key.ts";

const WIDTH = 80;

/** The state of a key: `rotating` works until its successor replaces it. */
export type KeyState = "live" | "rotating" | "expired" | "revoked";

/** Formats a time for operators and scripts: ISO 8601 in UTC, or null. */
export const time = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());

function stateOf(record: ApiKeyRecord, now: number): KeyState {
  if (isLive(record, now)) return record.revokedAt === undefined ? "live" : "rotating";
  return endOf(record) === record.revokedAt ? "revoked" : "expired";
}

/**
 * Returns what operators see of a key, without its hash.
 *
 * @param now milliseconds since 1970, for the state
 */
export function describe(record: ApiKeyRecord, now: number) {
  const { keyId, name, scopes, createdAt, expiresAt, revokedAt } = record;
  return {
    keyId,
    name,
    state: stateOf(record, now),
    scopes: scopes.toSorted(),
    createdAt: time(createdAt),
    expiresAt: time(expiresAt),
    revokedAt: time(revokedAt),
  };
}

/** Formats pairs of a label and a value, one per line. */
export const lines = (pairs: [string, string][]) =>
  pairs.map(([label, value]) => `${label.padEnd(9)}${value}`).join("\n");

/** Formats everything about a key, one field per line. */
export function details(record: ApiKeyRecord, now: number): string {
  const { keyId, name, state, scopes, createdAt, expiresAt, revokedAt } = describe(record, now);
  return lines([
    ["Key ID", keyId],
    ["Name", name],
    ["State", state],
    ["Scopes", scopes.join(", ")],
    ["Created", createdAt ?? ""],
    ["Expires", expiresAt ?? "never"],
    ...(revokedAt ? ([[state === "rotating" ? "Until" : "Revoked", revokedAt]] as [string, string][]) : []),
  ]);
}

const date = (at: number) => new Date(at).toISOString().slice(0, 10);
const minute = (at: number) => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")}Z`;

function stateCell(record: ApiKeyRecord, now: number): string {
  const [state, end] = [stateOf(record, now), endOf(record)];
  if (end === undefined) return state;
  if (state === "rotating") return `rotating until ${minute(end)}`;
  return state === "live" ? `live until ${date(end)}` : `${state} ${date(end)}`;
}

const scopesCell = ({ scopes }: ApiKeyRecord) =>
  scopes
    .map((scope) => scope.replace("pets:", ""))
    .sort()
    .join(",");

// Emoji and the scripts of East Asia take two columns on a terminal.
const WIDE =
  /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u;

/** Shortens a text to a number of columns on a terminal. */
function shorten(text: string, columns: number): string {
  const widths = [...text].map((character) => (WIDE.test(character) ? 2 : 1));
  if (widths.reduce((sum, width) => sum + width, 0) <= columns) return text;
  let used = 1; // the ellipsis
  const kept = widths.findIndex((width) => {
    used += width;
    return used > columns;
  });
  return `${[...text].slice(0, kept).join("")}…`;
}

/**
 * Formats keys as a table of 80 columns. It shortens long names.
 *
 * @param now milliseconds since 1970, for the states
 */
export function table(records: ApiKeyRecord[], now: number): string {
  const rows = records.map((record) => ({
    cells: [record.keyId, stateCell(record, now), scopesCell(record)],
    name: record.name,
  }));
  const all = [{ cells: ["KEY ID", "STATE", "SCOPES"], name: "NAME" }, ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map(({ cells }) => cells[column]?.length ?? 0)));
  const left = WIDTH - widths.reduce((sum, width) => sum + width + 2, 0);
  return all
    .map(({ cells, name }) =>
      [...cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)), shorten(name, left)].join("  "),
    )
    .join("\n");
}
