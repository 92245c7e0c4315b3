import type { ApiKeyRecord } from "../lib/api-key.ts";

/** A time as operators and scripts read it. */
export const time = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());

/** A key as operators see it; the hash stays in the table. */
export const describe = ({ keyId, name, scopes, createdAt, expiresAt, revokedAt }: ApiKeyRecord) => ({
  keyId,
  name,
  scopes: scopes.toSorted(),
  createdAt: time(createdAt),
  expiresAt: time(expiresAt),
  revokedAt: time(revokedAt),
});

/** Lines of two columns. */
export const lines = (pairs: [string, string][]) =>
  pairs.map(([label, value]) => `${label.padEnd(9)}${value}`).join("\n");

/** All that is known of a key, in lines. */
export const details = (record: ApiKeyRecord) => {
  const { keyId, name, scopes, createdAt, expiresAt, revokedAt } = describe(record);
  return lines([
    ["Key ID", keyId],
    ["Name", name],
    ["Scopes", scopes.join(", ")],
    ["Created", createdAt ?? ""],
    ["Expires", expiresAt ?? "never"],
    ...(revokedAt ? ([["Revoked", revokedAt]] as [string, string][]) : []),
  ]);
};

/** Every key in a line, under headings. */
export function table(records: ApiKeyRecord[]): string {
  const rows = records
    .map(describe)
    .map((key) => [
      key.keyId,
      key.name,
      key.scopes.join(","),
      key.createdAt ?? "",
      key.expiresAt ?? "never",
      key.revokedAt ?? "-",
    ]);
  const all = [["KEY ID", "NAME", "SCOPES", "CREATED", "EXPIRES", "REVOKED"], ...rows];
  const width = (column: number) => Math.max(...all.map((row) => row[column]?.length ?? 0));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(width(column)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
