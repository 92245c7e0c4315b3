import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { insert } from "../../../docs/report.ts";
import { synthesize } from "../../../infra/synthesize.ts";
import { coldStart } from "./measure.ts";

function machine(): string {
  const model = cpus()[0]?.model.trim() || "unknown";
  const memory = Math.round(totalmem() / 2 ** 30);
  const date = new Date().toISOString().slice(0, 10);
  return `${date}: ${availableParallelism()} cores (${model}), ${memory} GiB of memory, Node ${process.version} on ${process.platform} ${process.arch}.`;
}

/** Measures the cold starts of the functions on this machine, and updates the tables of docs/benchmarks.md. */
export async function benchmark(): Promise<void> {
  await using assembly = await mkdtempDisposable(join(tmpdir(), "animal-store-cold-start-"));
  await synthesize(assembly.path);
  const results = { machine: machine(), cold: await coldStart(assembly.path, 15) };
  const file = new URL("../../../docs/benchmarks.md", import.meta.url);
  let document = await readFile(file, "utf8");
  for (const [name, content] of Object.entries(results)) {
    console.log(content);
    document = insert(document, name, content);
  }
  await writeFile(file, document);
}
