import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readStack } from "../../emulator/template/template.ts";
import { localStage, servedStackName } from "../../infra/stages.ts";
import { generateApiKey } from "../../lib/api-key.ts";
import { type BenchOptions, format, table } from "../report.ts";
import { interleave, median } from "../stats.ts";
import { startMock } from "./mock.ts";
import { buildVariants, type Variant } from "./variants.ts";

const child = fileURLToPath(new URL("child.cjs", import.meta.url));

/** What child.cjs prints. */
interface ColdStart {
  /** an operation responded with a success, or the authorizer allowed the request */
  succeeded: boolean;
  /** size of the files that were loaded */
  bytes: number;
  /** import of the code; with `lambda-entry.mjs` it includes the warm-up */
  load: { ms: number; cpuMs: number };
  /** the first request */
  first: { ms: number; cpuMs: number };
}

async function start(
  { label, file, environment, event }: Variant,
  aws: Record<string, string>,
): Promise<ColdStart> {
  const args = [child, file, JSON.stringify(event)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...environment, ...aws } });
  const result: ColdStart = JSON.parse(stdout);
  if (!result.succeeded) throw new Error(`${label} did not succeed.`);
  return result;
}

function row({ label }: Variant, starts: readonly ColdStart[]): string[] {
  const of = (value: (start: ColdStart) => number) => format(median(starts.map(value)));
  return [
    label,
    format((starts[0]?.bytes ?? 0) / 1024, 0),
    of(({ load }) => load.ms),
    of(({ load }) => load.cpuMs),
    of(({ first }) => first.ms),
    of(({ first }) => first.cpuMs),
    of(({ load, first }) => load.ms + first.ms),
  ];
}

/** Measures cold starts of the service's functions and of reference functions. Every start has a process of its own. */
export async function coldStart({ quick, assembly }: BenchOptions) {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-bench-"));
  const stack = readStack(assembly, servedStackName);
  const key = generateApiKey(localStage.name);
  const mock = await startMock(stack.outputs.ApiKeysTableName ?? "", key);
  try {
    const variants = await buildVariants(stack, key, folder);
    const tasks = variants.map((variant) => () => start(variant, mock.environment));
    // The first round brings every file into the page cache.
    if (!quick) await interleave(1, tasks);
    const results = await interleave(quick ? 1 : 15, tasks);
    const head = ["", "KiB", "import, wall", "import, CPU", "request, wall", "request, CPU", "total, wall"];
    const rows = variants.map((variant, n) => row(variant, results[n] ?? []));
    return { cold: table(head, rows) };
  } finally {
    mock.close();
    await rm(folder, { recursive: true });
  }
}
