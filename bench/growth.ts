import { readStack } from "../infra/assembly/template.ts";
import { localStack } from "../infra/stages.ts";
import { petCreator, petFinder, petLister } from "../lib/dynamo/pet-store.ts";
import { createTables, startStore, useStore } from "../local/store.ts";
import { fill, idOf } from "./fill.ts";
import { lines } from "./plot.ts";
import { fixed, type Section, type Subject, table, whole } from "./section.ts";
import { interleave, median } from "./stats.ts";

const PAGE = 20;

/** The requests that are measured, against a store of so many animals. */
function requests(table: string, size: number): Record<string, () => Promise<unknown>> {
  const find = petFinder(table);
  const list = petLister(table, 1);
  const { create } = petCreator({ pets: table, claims: "-" }, 1);
  // The last page ends before the animals that are added while others are measured.
  const pages = { first: 0, middle: Math.floor(size / 2), last: size - 3 * (PAGE + 1) - 1 };
  return {
    "get an animal": () => find(idOf(Math.floor(Math.random() * size))),
    "add an animal": () => create({ name: "Rex", categoryId: 1n, status: "available" }),
    ...Object.fromEntries(
      Object.entries(pages).flatMap(([name, n]) => [
        [`${name} page of all`, () => list({ limit: PAGE, after: idOf(n) })],
        [`${name} page of one status`, () => list({ limit: PAGE, after: idOf(n), status: "sold" })],
      ]),
    ),
  };
}

interface Found {
  ms: number;
}

/** A store of so many animals, and the requests of it, each made once. */
async function prepare(size: number, assembly: string) {
  const store = await startStore();
  useStore(store.endpoint);
  const { tables, outputs } = readStack(assembly, localStack);
  await createTables(store.endpoint, tables);
  const pets = outputs.PetsTableName ?? "";
  await fill(pets, size);
  const all = requests(pets, size);
  // A client looks its endpoint up at its first call.
  for (const request of Object.values(all)) await request();
  return { size, store, all };
}

async function time(request: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await request();
  return performance.now() - start;
}

/** What requests cost as the store grows. */
export async function growth({ quick, assembly }: Subject): Promise<Section> {
  const found: (Awaited<ReturnType<typeof prepare>> & { results: Map<string, Found> })[] = [];
  for (const size of quick ? [1000, 3000] : [1000, 30_000, 300_000]) {
    found.push({ ...(await prepare(size, assembly)), results: new Map() });
  }
  // All sizes in turns, and some rounds first: code becomes faster as it runs, whatever the size.
  const tasks = found.flatMap(({ all }) => Object.values(all).map((request) => () => time(request)));
  await interleave(quick ? 5 : 60, tasks);
  const times = await interleave(quick ? 20 : 101, tasks);
  for (const { all, results } of found) {
    for (const name of Object.keys(all)) {
      results.set(name, { ms: median(times.shift() ?? []) });
    }
  }
  for (const { store } of found) await store.close();
  return report(found);
}

function report(found: { size: number; results: Map<string, Found> }[]): Section {
  const names = [...(found[0]?.results.keys() ?? [])];
  const of = (name: string) => found.map(({ results }) => results.get(name) as Found);
  const rows = names.map((name) => {
    const all = of(name);
    const [smallest] = all;
    const ratio = (all.at(-1)?.ms ?? 0) / (smallest?.ms ?? 0);
    return [name, ...all.map(({ ms }) => fixed(ms, 2)), fixed(ratio, 2)];
  });
  const sizes = found.map(({ size }) => whole(size));
  const head = ["", ...sizes.map((size) => `p50 at ${size}, ms`), "last / first"];
  const text = `## Growth

The stores of lib/dynamo against the embedded store, in memory, with ${sizes.join(", ")} animals; pages of ${PAGE}. test/functions/calls.test.ts
asserts that the calls and the capacity of each request are constant.

![p50 by size](benchmarks/growth.svg)

${table(head, rows)}

The times are the embedded store's as well as the service's, in one process, all sizes in turns.
`;
  const plot = lines(
    "p50 of a request by animals in the store",
    { x: "animals", y: "ms", logX: true },
    names
      .filter((name) => !name.startsWith("middle"))
      .map((name) => ({
        label: name,
        points: found.map(({ size, results }) => [size, results.get(name)?.ms ?? 0] as const),
      })),
  );
  return { text, plots: { "growth.svg": plot } };
}
