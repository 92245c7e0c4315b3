import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { servedStackName } from "../infra/stages.ts";
import { synthesize } from "../infra/synthesize.ts";
import { coldStart } from "./cold/cold.ts";
import { insert } from "./report.ts";

/** `npm run bench`: measures the service on this machine and updates the tables of docs/benchmarks.md. */

const { quick } = new Command("npm run bench --")
  .option("--quick", "do each step once to see that it works, print a rough result, and write nothing", false)
  .exitOverride(({ exitCode }) => process.exit(exitCode && 2))
  .parse()
  .opts<{ quick: boolean }>();

function machine(): string {
  const model = cpus()[0]?.model.trim() || "unknown";
  const memory = Math.round(totalmem() / 2 ** 30);
  const date = new Date().toISOString().slice(0, 10);
  return `${date}: ${availableParallelism()} cores (${model}), ${memory} GiB of memory, Node ${process.version} on ${process.platform} ${process.arch}.`;
}

const assembly = await mkdtemp(join(tmpdir(), "animal-store-bench-"));
try {
  await synthesize(assembly, [servedStackName]);
  const results = { machine: machine(), ...(await coldStart({ quick, assembly })) };
  const file = new URL("../docs/benchmarks.md", import.meta.url);
  let document = await readFile(file, "utf8");
  for (const [name, content] of Object.entries(results)) {
    console.log(`\n${name}\n\n${content}`);
    document = insert(document, name, content);
  }
  if (!quick) await writeFile(file, document);
} finally {
  await rm(assembly, { recursive: true });
}
// The AWS clients keep their connections open.
process.exit();
