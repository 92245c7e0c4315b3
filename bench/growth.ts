import { servedStack } from "../infra/stages.ts";
import { petCreator, petFinder, petLister } from "../lib/dynamo/pet-store.ts";
import { readStack } from "../local/assembly/template.ts";
import { setAwsEnvironment } from "../local/store/aws-environment.ts";
import { createTables } from "../local/store/create-tables.ts";
import { startStore } from "../local/store/store.ts";
import { fill, idOf } from "./fill.ts";
import { type BenchOptions, format, table } from "./report.ts";
import { interleave, median, time } from "./stats.ts";

/** The requests that are measured, against a store of `size` pets. */
function requests(pets: string, size: number): Record<string, () => Promise<unknown>> {
  const find = petFinder(pets);
  const list = petLister(pets, 1);
  const { create } = petCreator({ pets, claims: "-" }, 1);
  const middle = idOf(Math.floor(size / 2));
  return {
    "get a pet": () => find(idOf(Math.floor(Math.random() * size))),
    "create a pet": () => create({ name: "Rex", categoryId: 1n, status: "available" }),
    "first page of all": () => list({ limit: 20, after: 0n }),
    "first page of one status": () => list({ limit: 20, after: 0n, status: "sold" }),
    "middle page of all": () => list({ limit: 20, after: middle }),
    "middle page of one status": () => list({ limit: 20, after: middle, status: "sold" }),
  };
}

async function prepare(size: number, assembly: string) {
  const store = await startStore();
  setAwsEnvironment(store);
  const { tables, outputs } = readStack(assembly, servedStack);
  await createTables(store.endpoint, tables);
  const pets = outputs.PetsTableName ?? "";
  await fill(pets, size);
  const measured = requests(pets, size);
  // A client reads its endpoint from the environment at its first call, so the next store can change it after this.
  for (const request of Object.values(measured)) await request();
  return { store, requests: measured };
}

/** Measures how long requests take as the store grows. */
export async function growth({ quick, assembly }: BenchOptions) {
  const sizes = quick ? [1000, 3000] : [1000, 30_000, 300_000];
  const filled: Awaited<ReturnType<typeof prepare>>[] = [];
  for (const size of sizes) filled.push(await prepare(size, assembly));

  const rows: string[][] = [];
  for (const name of Object.keys(filled[0]?.requests ?? {})) {
    const tasks = filled.map(
      ({ requests }) =>
        () =>
          time(requests[name] as () => Promise<unknown>),
    );
    // V8 compiles code while it runs, so the first rounds are not measured.
    await interleave(quick ? 5 : 60, tasks);
    const times = (await interleave(quick ? 20 : 101, tasks)).map(median);
    const ratio = (times.at(-1) as number) / (times[0] as number);
    rows.push([name, ...[...times, ratio].map((value) => format(value, 2))]);
  }
  for (const { store } of filled) await store.close();
  const head = ["", ...sizes.map((size) => `p50 at ${format(size, 0)}, ms`), "last / first"];
  return { growth: table(head, rows) };
}
