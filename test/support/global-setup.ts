import { execFile } from "node:child_process";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Store } from "../../tools/emulator/store/store.ts";
import { refreshAssembly } from "../../tools/local/assembly.ts";
import { dataPath, makeDataFolder } from "../../tools/local/data-folder.ts";
import { type LocalService, startService } from "./local-service.ts";
import { share, shared } from "./shared.ts";
import { startTestStore } from "./test-store.ts";

export interface Shared {
  folder: string;
  service: LocalService;
  store: Store;
}

async function synthesizeFilledIn(filledInAssembly: string): Promise<void> {
  const script = fileURLToPath(new URL("synthesize-filled-in.ts", import.meta.url));
  // Without the CDK's own checks, which take most of the time. cdk-nag still checks what asks for it.
  const env = { ...process.env, CDK_VALIDATION: "false", HOME: dirname(filledInAssembly) };
  await promisify(execFile)(process.execPath, [script, filledInAssembly], { env });
  share({ filledInAssembly });
}

/**
 * Synthesizes the app, also filled in, starts an embedded store for the functions under test and the local service
 * for the contract suite. The tests find all three through the environment.
 */
export default async function setup(): Promise<void> {
  // `npm run test:contract` runs the contract suite against a service that is already running.
  if (process.env.CONTRACT_URL) return;
  // Every character that a shell command could trip over.
  const folder = await mkdtemp(join(tmpdir(), `animal-store test's "$HOME" & co-`));
  share({ logs: join(folder, "logs") });
  await mkdir(shared.logs);
  // What the tests leave here, global-teardown.ts reports.
  process.env.TMPDIR = process.env.HOME = join(folder, "tmp");
  // Otherwise npm, in a test, would make folders for them there.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "../../node_modules/.cache/node");
  process.env.npm_config_cache ??= join(import.meta.dirname, "../../node_modules/.cache/npm");
  await mkdir(process.env.TMPDIR);
  const data = join(folder, "data");
  await makeDataFolder({ DATA_DIR: data });
  process.env.CDK_VALIDATION = ""; // the checks of a deployment, in which it is not set
  const [assembly] = await Promise.all([
    refreshAssembly(dataPath({ DATA_DIR: data }, "assembly")),
    synthesizeFilledIn(join(folder, "filled-in")),
  ]);
  delete process.env.CDK_VALIDATION;
  const [store, service] = await Promise.all([startTestStore(assembly), startService({ DATA_DIR: data })]);
  share({ dataFolder: data, baseUrl: service.baseUrl, key: service.key });

  (globalThis as { shared?: Shared }).shared = { folder, service, store };
}
