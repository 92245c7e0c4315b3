import { execFile } from "node:child_process";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Store } from "../../tools/emulator/store/store.ts";
import { eventually } from "./eventually.ts";
import { type LocalService, startService } from "./local-service.ts";
import { share, shared } from "./shared.ts";
import { startTestStore } from "./test-store.ts";

export interface Running {
  folder: string;
  service: LocalService;
  store: Store;
}

async function synthesizeVariants(folder: string): Promise<void> {
  share({ variants: folder });
  const script = fileURLToPath(new URL("synthesize-variants.ts", import.meta.url));
  // Without the CDK's own checks, which take most of the time. cdk-nag still checks what asks for it.
  const env = { ...process.env, CDK_VALIDATION: "false", HOME: folder };
  await promisify(execFile)(process.execPath, [script], { env });
}

/**
 * Waits until the stage under test treats its key, and no key, five times as it should: after a deployment, API Gateway and IAM
 * can need seconds until every request sees the change.
 */
async function waitForStage(): Promise<void> {
  const url = `${shared.baseUrl}/pets?limit=1`;
  const statusWith = (headers: Record<string, string>): Promise<unknown> =>
    fetch(url, { headers, signal: AbortSignal.timeout(10_000) }).then(
      ({ status }) => status,
      ({ message, cause }) => cause?.code ?? message,
    );
  const wanted = "200 with CONTRACT_KEY, and 401 without it";
  const inARow = async () => {
    for (let n = 0; n < 5; n++) {
      const withKey = await statusWith({ Authorization: `Bearer ${shared.key}` });
      const found = `${withKey} with CONTRACT_KEY, and ${await statusWith({})} without it`;
      if (found !== wanted) return found;
    }
    return wanted;
  };
  await eventually(
    inARow,
    (found) => {
      if (found !== wanted) throw new Error(`${url} returned ${found}. The suite needs ${wanted}.`);
    },
    { seconds: 60 },
  );
}

/**
 * Starts the local service, which synthesizes the app, and a store for the functions under test. Synthesizes the app also
 * with other settings. The tests find all of it through the environment.
 */
export default async function setup(): Promise<void> {
  // `CONTRACT_URL=<base URL> CONTRACT_KEY=<API key> npm run test:contract` tests a stage that runs. It adds pets.
  if ("CONTRACT_URL" in process.env) return waitForStage(); // also if it is empty: a workflow has lost it
  // Characters that a shell command could trip over.
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
  const [service] = await Promise.all([
    startService({ DATA_DIR: data, CDK_VALIDATION: "" }), // with the checks of a deployment, in which it is not set
    synthesizeVariants(join(folder, "variants")),
  ]);
  const store = await startTestStore(join(data, "assembly"));
  share({ dataFolder: data, baseUrl: service.baseUrl, key: service.key });

  (globalThis as { running?: Running }).running = { folder, service, store };
}
