/** A Markdown table. Every column but the first is right-aligned, as numbers are, unless the cells are text. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  cells: "numbers" | "text" = "numbers",
): string {
  const isLeft = (column: number) => column === 0 || cells === "text";
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, n) => (isLeft(n) ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join(" | ")} |`;
  const rule = widths.map((width, n) => (isLeft(n) ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

/**
 * Replaces what is between `<!-- name -->` and `<!-- /name -->`.
 *
 * @throws Error when the document does not have both markers
 */
export function insert(document: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`];
  const from = document.indexOf(start) + start.length;
  const to = document.indexOf(end, from);
  if (from < start.length || to < 0) throw new Error(`The document has no markers for ${name}.`);
  return `${document.slice(0, from)}\n${content}\n${document.slice(to)}`;
}

/** A number with thousands separators and a fixed number of decimals. */
export const format = (value: number, decimals = 1) =>
  value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
