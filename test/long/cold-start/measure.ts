import { execFile } from "node:child_process";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { format, table } from "../../../docs/report.ts";
import { readStack } from "../../../emulator/template/template.ts";
import { localStage, servedStackName } from "../../../infra/stages.ts";
import { generateApiKey } from "../../../lib/api-key.ts";
import { startMock } from "./mock.ts";
import { buildVariants, type Variant } from "./variants.ts";

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
 * @param assembly folder of the synthesized stack
 * @param rounds starts of each function; those of a round follow one another, so that other work affects all equally
 * @returns a Markdown table
 */
export async function coldStart(assembly: string, rounds: number): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-cold-start-"));
  const stack = readStack(assembly, servedStackName);
  const key = generateApiKey(localStage.name);
  const { ApiKeysTableName: apiKeys = "", PetsTableName: pets = "" } = stack.outputs;
  const tables = { apiKeys, pets };
  await using mock = await startMock(tables, key);
  const variants = await buildVariants(stack, key, folder.path);
  const starts = variants.map((): Record<string, number>[] => []);
  for (let round = 0; round < rounds; round++)
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
