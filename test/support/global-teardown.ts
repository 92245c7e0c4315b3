import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Shared } from "./global-setup.ts";
import { leftovers } from "./leftovers.ts";

const keptLogs = fileURLToPath(new URL("../../build/test-logs", import.meta.url));

/**
 * Stops what the tests shared. Keeps the logs of the local services if a test failed.
 *
 * @throws Error if the tests left a file, a folder or a process behind
 */
export default async function teardown(): Promise<void> {
  const { shared, testsFailed } = globalThis as { shared?: Shared; testsFailed?: boolean };
  if (!shared) return;
  await shared.service.stop();
  await shared.store.close();
  const logs = join(shared.folder, "logs");
  const left = await leftovers(join(shared.folder, "tmp"), logs);
  await rm(keptLogs, { recursive: true, force: true });
  if (testsFailed) {
    await cp(logs, keptLogs, { recursive: true });
    console.error(`The logs of the local services are in ${keptLogs}.`);
  }
  await rm(shared.folder, { recursive: true });
  if (left.length > 0) throw new Error(`The tests left behind:\n${left.join("\n")}`);
}
