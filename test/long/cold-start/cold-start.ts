import { execFile } from "node:child_process";
import { mkdir, mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { readStack } from "../../../emulator/template/template.ts";
import { localStage, servedStackName } from "../../../infra/stages.ts";
import { synthesize } from "../../../infra/synthesize.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { format, insert, table } from "../../generate/report.ts";
import { startMock } from "./mock.ts";
import { buildVariants, type Variant } from "./variants.ts";

/** Starts of each function. Those of a round follow one another, so that other work affects all equally. */
const ROUNDS = 15;

/** What child.cjs prints: whether the handler returned a success, and numbers by the columns of the table. */
type ColdStart = { succeeded: boolean; measured: Record<string, number> };

async function start({ label, file, environment, event }: Variant, aws: Record<string, string>) {
  const args = [join(import.meta.dirname, "child.cjs"), file, JSON.stringify(event)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...environment, ...aws } });
  const { succeeded, measured }: ColdStart = JSON.parse(stdout);
  if (!succeeded) throw new Error(`${label} did not succeed.`);
  return measured;
}

/** The upper median. */
const median = (values: number[]) =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/**
 * Measures cold starts of the service's functions and of reference functions. Every start has a process of its own.
 *
 * @param folder an empty folder
 * @returns a Markdown table
 */
async function coldStart(folder: string): Promise<string> {
  const [assembly, bundles] = [join(folder, "assembly"), join(folder, "bundles")];
  for (const path of [assembly, bundles]) await mkdir(path);
  await synthesize(assembly);
  const stack = readStack(assembly, servedStackName);
  const key = generateApiKey(localStage.name);
  const { ApiKeysTableName: apiKeys = "", PetsTableName: pets = "" } = stack.outputs;
  await using mock = await startMock({ apiKeys, pets }, key);
  const variants = await buildVariants(stack, key, bundles);
  const starts = variants.map((): Record<string, number>[] => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [n, variant] of variants.entries()) starts[n]?.push(await start(variant, mock.environment));
  const columns = Object.keys(starts[0]?.[0] ?? {});
  const rows = variants.map(({ label }, n) => [
    label,
    ...columns.map((name) =>
      format(median((starts[n] ?? []).map((one) => one[name] ?? Number.NaN)), name === "KiB" ? 0 : 1),
    ),
  ]);
  return table(["", ...columns], rows);
}

function machine(): string {
  const model = cpus()[0]?.model.trim() || "unknown";
  const memory = Math.round(totalmem() / 2 ** 30);
  const date = new Date().toISOString().slice(0, 10);
  return `${date}: ${availableParallelism()} cores (${model}), ${memory} GiB of memory, Node ${process.version} on ${process.platform} ${process.arch}.`;
}

/** Measures the cold starts of the functions on this machine, and updates the tables of docs/benchmarks.md. */
export async function benchmark(): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-cold-start-"));
  const results = { machine: machine(), cold: await coldStart(folder.path) };
  const file = new URL("../../../docs/benchmarks.md", import.meta.url);
  let document = await readFile(file, "utf8");
  for (const [name, content] of Object.entries(results)) {
    console.log(content);
    document = insert(document, name, content);
  }
  await writeFile(file, document);
}
