import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { synthesize } from "../infra/assembly/synthesize.ts";
import { localStack } from "../infra/stages.ts";
import { capacity } from "./capacity.ts";
import { coldStart } from "./cold/cold.ts";
import { growth } from "./growth.ts";
import { localLoad } from "./load/load.ts";
import type { Section } from "./section.ts";
import { warmCost } from "./warm.ts";

/** `npm run bench`: measures the service on this machine and writes docs/benchmarks.md. */

const parts = { cold: coldStart, warm: warmCost, load: localLoad, growth, capacity };
type Part = keyof typeof parts;

const usage = `Usage: npm run bench -- [--quick] [--only <${Object.keys(parts).join("|")}>]
  --quick  about a minute; prints, and writes nothing
  --only   one part; prints, and writes nothing`;

function options() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        only: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.only === undefined || values.only in parts) return values;
    throw new Error(`There is no part ${values.only}.`);
  } catch (error) {
    console.error(`bench: ${(error as Error).message}\n${usage}`);
    process.exit(2);
  }
}

const { quick, only, help } = options();
if (help) {
  console.log(usage);
  process.exit();
}

const machine = () => {
  const model = cpus()[0]?.model.trim() || "unknown";
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} cores (${model}), ${memory} GiB of memory, Node ${process.version} on ${process.platform} ${process.arch}`;
};

const assembly = await mkdtemp(join(tmpdir(), "animal-store-bench-"));
await synthesize(assembly, [localStack]);

const sections: Section[] = [];
for (const part of only ? [only as Part] : (Object.keys(parts) as Part[])) {
  process.stderr.write(`${part} ...\n`);
  const section = await parts[part]({ quick, assembly });
  console.log(section.text);
  sections.push(section);
}

if (!quick && !only) {
  const docs = new URL("../docs/", import.meta.url);
  await mkdir(new URL("benchmarks/", docs), { recursive: true });
  const head = `# Benchmarks

\`npm run bench\` measures all of this and writes this file, in a few minutes and without network;
\`npm run bench -- --quick\` prints a rough version in about one.

This run: ${new Date().toISOString().slice(0, 10)}, ${machine()}.
The machine was shared with other work, so times are noisy: what is compared ran in turns, medians are given, and
ratios tell more than milliseconds do. Bytes, calls and items do not depend on the machine.
`;
  await writeFile(new URL("benchmarks.md", docs), [head, ...sections.map(({ text }) => text)].join("\n"));
  for (const { plots } of sections) {
    for (const [name, svg] of Object.entries(plots))
      await writeFile(new URL(`benchmarks/${name}`, docs), svg);
  }
}
await rm(assembly, { recursive: true });
// Clients keep their connections open.
process.exit();
