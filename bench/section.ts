/** What one part of the benchmarks found. */
export interface Section {
  /** Markdown, without a heading of the first rank */
  text: string;
  /** SVG by file name, which the text refers to as benchmarks/<file name> */
  plots: Record<string, string>;
}

/** What is measured. */
export interface Subject {
  /** only as much as fits into a minute */
  quick: boolean;
  /** folder of the synthesized stack */
  assembly: string;
}

/** A Markdown table; every column but the first is of numbers. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const all = [head, ...rows].map((row) => row.map(String));
  const width = (column: number) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, n) => (n === 0 ? cell.padEnd(width(n)) : cell.padStart(width(n)))).join(" | ")} |`;
  const rule = head.map((_, n) => (n === 0 ? "-".repeat(width(n)) : `${"-".repeat(width(n) - 1)}:`));
  return [line(all[0] ?? []), `| ${rule.join(" | ")} |`, ...all.slice(1).map(line)].join("\n");
}

/** Says whether an aim is met, for a list of aims. */
export const aim = (text: string, met: boolean) => `- ${met ? "met" : "**not met**"}: ${text}`;

/** Number with so many decimals. */
export const fixed = (value: number, decimals = 1) => value.toFixed(decimals);

/** Number with thousands apart. */
export const whole = (value: number) => Math.round(value).toLocaleString("en");
