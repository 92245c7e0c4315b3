import { lines } from "./plot.ts";
import { fixed, type Section, table, whole } from "./section.ts";

/**
 * A model of the limits that DynamoDB documents, and of what they make of the index `byStatus`. Ids rise with time,
 * so the newest animals of a status are neighbours in the index: splitting a partition by sort key does not help,
 * because all writes go on meeting the newest part. That is what `statusShards` is for.
 */

/** What one partition takes in a second, in units. */
export const PARTITION = { writes: 1000, reads: 3000 };
/** The default quota of an on-demand table, in a second. */
export const TABLE = { writes: 40_000, reads: 40_000 };

/** Size of an animal in the index, in bytes: a name of 20 characters, and the attribute `creation`. */
const ITEM_BYTES = 150;
const STATUSES = 3;

/** Creations a second at which the partitions of one status are full, at a unit each: an animal of at most 1 KB. */
export const creationsOfOneStatus = (shards: number): number =>
  // The table takes one write an animal and its index another, each against a quota of its own.
  Math.min(shards * PARTITION.writes, TABLE.writes);

/** What a page costs its reader. */
export function pageCost(shards: number, limit: number, filtered: boolean) {
  const queries = shards * (filtered ? 1 : STATUSES);
  // Each Query may read a whole page and one animal, at half a unit for 4 KB, rounded up.
  const units = queries * Math.ceil(((limit + 1) * ITEM_BYTES) / 4096) * 0.5;
  return { queries, units };
}

/** A row of small pseudo-random numbers from 0 to 1 that a seed decides (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What became of simulated creations. */
export interface Outcome {
  offered: number;
  throttled: number;
  /** most creations that one partition was asked for in a second */
  peak: number;
  /** fewer than one creation in a thousand was throttled, which the SDK's retries hide */
  holds: boolean;
}

/**
 * Sends creations of one status to partitions that are drawn at random, as the store does. Each partition takes
 * its limit in every second; what DynamoDB saves up for bursts is left out, since it may be used up.
 *
 * @param rate creations a second
 * @param shards over how many partitions the status is spread
 */
export function simulate(rate: number, shards: number, seconds = 10, seed = 1): Outcome {
  const next = random(seed);
  const outcome: Outcome = { offered: rate * seconds, throttled: 0, peak: 0, holds: false };
  for (let second = 0; second < seconds; second++) {
    const asked = new Uint32Array(shards);
    for (let n = 0; n < rate; n++) {
      const shard = Math.floor(next() * shards);
      asked[shard] = (asked[shard] ?? 0) + 1;
    }
    for (const count of asked) {
      outcome.throttled += Math.max(0, count - PARTITION.writes);
      outcome.peak = Math.max(outcome.peak, count);
    }
  }
  outcome.holds = outcome.throttled < outcome.offered / 1000;
  return outcome;
}

const SHARDS = [1, 2, 4, 8, 10, 16, 32];
const RATE = 10_000;

/** Writes up where the limits lie and what moves them. */
export async function capacity(): Promise<Section> {
  const rows = SHARDS.map((shards) => {
    const { throttled, offered, peak, holds } = simulate(RATE, shards);
    const [page, filtered] = [pageCost(shards, 20, false), pageCost(shards, 20, true)];
    return [
      String(shards),
      whole(creationsOfOneStatus(shards)),
      holds ? "yes" : "no",
      `${fixed((100 * throttled) / offered)} %`,
      whole(peak),
      `${page.queries} / ${filtered.queries}`,
      `${fixed(page.units)} / ${fixed(filtered.units)}`,
    ];
  });
  const head = [
    "shards",
    "creations of a status, /s",
    `${whole(RATE)}/s hold`,
    "throttled",
    "peak of a partition, /s",
    "Queries a page, all / one status",
    "RCU a page, all / one status",
  ];
  const ten = pageCost(16, 20, false).units / pageCost(1, 20, false).units;
  const text = `## Capacity

This part is a model and a simulation (bench/capacity.ts), not a measurement. DynamoDB gives a partition ${whole(PARTITION.writes)} writes
and ${whole(PARTITION.reads)} reads of one unit a second, and an on-demand table ${whole(TABLE.writes)} of each by default. The table itself
spreads by id. Its index holds each status in order of id, and ids rise: all creations of a status meet the newest
partition, which DynamoDB cannot split usefully. \`statusShards\` in infra/stages.ts spreads a status over several
partitions, drawn at random for every animal.

![Creations a second by shards](benchmarks/capacity.svg)

${table(head, rows)}

The simulation sends ${whole(RATE)} creations of one status a second to partitions that each take ${whole(PARTITION.writes)}; what DynamoDB
saves up for bursts is not counted. Ten shards do not do, since the draw is not even. With 16 they hold; a page then
costs ${fixed(ten, 0)} times as much to read, in parallel Queries, so the number should be no higher than writing needs.
Shards do not help readers: a page of one status reads half a unit in each of its partitions, so they serve
${whole(PARTITION.reads / pageCost(1, 20, true).units)} such pages of the same place a second, however many they are. A table that is asked for much more than
it was before also needs some minutes to grow.
`;
  const plot = lines("Creations of one status a second", { x: "statusShards", y: "a second" }, [
    { label: "limit of the partitions", points: SHARDS.map((n) => [n, creationsOfOneStatus(n)] as const) },
    {
      label: "done, of 10,000 asked for",
      points: SHARDS.map((n) => [n, RATE - simulate(RATE, n).throttled / 10] as const),
    },
  ]);
  return { text, plots: { "capacity.svg": plot } };
}
