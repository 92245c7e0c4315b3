import { fixed } from "../section.ts";
import type { ColdStart } from "./measure.ts";

export type Named = ColdStart & { name: string };

/** How the imports compare, in three ways; the one of the medians counts. */
export function ratios(bundles: readonly Named[], other: (name: string) => Named) {
  const ways = [
    (each: Named) => each.load.wall / other(each.name).load.wall,
    (each: Named) => each.fastest / other(each.name).fastest,
    (each: Named) => each.load.cpu / other(each.name).load.cpu,
  ].map((way) => bundles.map(way));
  const [medians = "", fastest = "", cpu = ""] = ways.map(
    (values) => `${fixed(Math.min(...values), 2)} to ${fixed(Math.max(...values), 2)}`,
  );
  const text = `${medians} by the medians, ${fastest} by the fastest runs, ${cpu} by CPU time`;
  return { worst: Math.max(...(ways[0] ?? [])), text };
}
