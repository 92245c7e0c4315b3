import { bars } from "../plot.ts";
import { aim, fixed, type Section, table, whole } from "../section.ts";
import type { ColdStart } from "./measure.ts";
import { type Named, ratios } from "./ratios.ts";

type Found = Record<
  "warmed" | "bundles" | "defaults" | "unwarmed" | "cached" | "references",
  readonly Named[]
>;

const BUDGET = 210 * 1024;
const OF_DEFAULTS = 0.45;
const OF_FLOOR = 4;

/** Lambda gives CPU in proportion to memory: one whole vCPU at 1,769 MB. */
const MEMORY = [512, 1024, 1769].map((mb) => ({ mb, share: mb / 1769 }));
const SIZES = "512 / 1,024 / 1,769 MB";

const REFERENCES: Record<string, string> = {
  empty: "empty handler",
  signed: "GetItem signed by hand, no SDK (the floor)",
  sdk: "GetItem with client-dynamodb alone",
  typical: "typical getPet: document client, zod, one file",
};

const row = (label: string, { bytes, files, load, first, answer }: ColdStart) => [
  label,
  whole(bytes / 1024),
  files,
  fixed(load.wall),
  fixed(load.cpu),
  fixed(first.wall),
  fixed(answer.wall),
];

/** Writes up the cold starts. */
export function report(rounds: number, found: Found): Section {
  const { warmed, bundles, defaults, unwarmed, cached, references } = found;
  const floor = references.find(({ name }) => name === "signed") as Named;
  const of = (group: readonly Named[], name: string) => group.find((each) => each.name === name) as Named;
  const operations = bundles.filter(({ name }) => name !== "authorize");
  const toDefaults = ratios(bundles, (name) => of(defaults, name));
  const toFloor = ratios(bundles, () => floor);
  const main = table(
    ["", "KiB read", "files", "import, ms", "its CPU, ms", "first request, ms", "import to answer, ms"],
    [
      ...warmed.map((each) => row(`${each.name}, as deployed (waits for the warm-up)`, each)),
      ...bundles.map((each) => row(`${each.name}, the same without waiting`, each)),
      ...unwarmed.map((each) => row(`${each.name}, the same without a warm-up`, each)),
      ...defaults.map((each) => row(`${each.name}, NodejsFunction's defaults`, each)),
      ...references.map((each) => row(REFERENCES[each.name] ?? each.name, each)),
    ],
  );

  const at = (ms: number) => MEMORY.map(({ share }) => whole(ms / share)).join(" / ");
  const cpu = table(
    ["CPU time, ms", "first request, no warm-up", "after a warm-up", "moved", SIZES, `left, ${SIZES}`],
    unwarmed.map(({ name, first }) => {
      const left = of(warmed, name).first.cpu;
      const moved = first.cpu - left;
      return [name, fixed(first.cpu), fixed(left), fixed(moved), at(moved), at(left)];
    }),
  );
  const next = Math.max(...warmed.map(({ second }) => second.cpu));

  const cache = table(
    ["", "import, ms", "with a compile cache", "its CPU, ms", "with a compile cache"],
    bundles.map((each) => {
      const warm = of(cached, each.name);
      return [
        each.name,
        ...[each.load.wall, warm.load.wall, each.load.cpu, warm.load.cpu].map((ms) => fixed(ms)),
      ];
    }),
  );

  const text = `## Cold start

Each line is the median of ${rounds} fresh processes, in turns with all the others. "Import" is the loading of the code and
the construction of the clients; "first request" is what a client then waits for; DynamoDB is a server on this
machine that answers at once, over TLS. Lambda's own work before the code runs is not in these numbers.

![Import and first request](benchmarks/cold-start.svg)

${main}

The authorizer's references are the same; its bundle has neither the document client nor zod.

### Aims

${aim(
  `every operation's bundle is at most 210 KiB (the largest: ${fixed(Math.max(...operations.map(({ bytes }) => bytes)) / 1024)})`,
  operations.every(({ bytes }) => bytes <= BUDGET),
)}
${aim(
  "the authorizer's bundle is smaller than each operation's",
  operations.every(({ bytes }) => of(bundles, "authorize").bytes < bytes),
)}
${aim(`import takes at most ${OF_DEFAULTS} of NodejsFunction's defaults of the same source (${toDefaults.text})`, toDefaults.worst <= OF_DEFAULTS)}
${aim(`import takes at most ${OF_FLOOR} times that of the floor without SDK (${toFloor.text})`, toFloor.worst <= OF_FLOOR)}

### What the warm-up moves, and what the memory size makes of it

The first call of DynamoDB compiles code and makes a TLS connection. Without a warm-up the first request pays for
it, with the share of a CPU that its memory size buys: 0.29 at 512 MB, 0.58 at 1,024 MB, 1 at 1,769 MB. With one,
Lambda's start does, which has a whole CPU in any size. The last two columns are CPU time divided by that share: how
long the moved work would take a request, and how long what is left does.

${cpu}

The second request of an instance takes at most ${fixed(next)} ms of CPU, ${at(next)} ms at the three sizes, and later ones
less as V8 goes on compiling. The default of 512 MB rests on the warm-up: with it, twice the memory would only shorten
the first requests of each instance, by half of what is left, and cost up to twice as much for every one, since a
request mostly waits for DynamoDB.

### A compile cache

${cache}

It is not adopted. Lambda's file system cannot be written but for /tmp, which is empty at every cold start; and a
cache that is shipped in the package is tied to the exact build and flags of V8, and silently useless once Lambda
patches the runtime.
`;
  const plotted = [
    ...warmed.map((each) => ({ label: `${each.name}, as deployed`, each })),
    ...unwarmed.map((each) => ({ label: `${each.name}, no warm-up`, each })),
    ...defaults.map((each) => ({ label: `${each.name}, NodejsFunction's defaults`, each })),
    ...references.map((each) => ({ label: (REFERENCES[each.name] ?? "").replace(/[:,(].*/, ""), each })),
  ];
  const plot = bars(
    "Cold start: milliseconds in the process",
    "ms",
    ["start", "first request"],
    plotted.map(({ label, each }) => ({ label, values: [each.load.wall, each.first.wall] })),
  );
  return { text, plots: { "cold-start.svg": plot } };
}
