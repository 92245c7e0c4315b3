import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { synthesize } from "../infra/synthesize.ts";
import { coldStart } from "./cold/cold.ts";
import { insert } from "./report.ts";

new Command("npm run bench --")
  .description("Measures the service on this machine, and updates the tables of docs/benchmarks.md.")
  .exitOverride(({ exitCode }) => process.exit(exitCode && 2))
  .parse();

function machine(): string {
  const model = cpus()[0]?.model.trim() || "unknown";
  const memory = Math.round(totalmem() / 2 ** 30);
  const date = new Date().toISOString().slice(0, 10);
  return `${date}: ${availableParallelism()} cores (${model}), ${memory} GiB of memory, Node ${process.version} on ${process.platform} ${process.arch}.`;
}

await using assembly = await mkdtempDisposable(join(tmpdir(), "animal-store-bench-"));
await synthesize(assembly.path);
const results = { machine: machine(), cold: await coldStart(assembly.path, 15) };
const file = new URL("../docs/benchmarks.md", import.meta.url);
let document = await readFile(file, "utf8");
for (const [name, content] of Object.entries(results)) {
  console.log(content);
  document = insert(document, name, content);
}
await writeFile(file, document);
