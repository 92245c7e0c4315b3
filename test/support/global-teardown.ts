import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Shared } from "./global-setup.ts";
import { endProcesses, leftovers } from "./leftovers.ts";

/** Where the logs stay if a test fails. */
const keptLogs = fileURLToPath(new URL("../../build/test-logs", import.meta.url));

/**
 * Stops what the tests shared. Keeps the logs of the local services if a test failed.
 *
 * @throws Error if the tests passed and left a file, a folder or a process behind
 */
export default async function teardown(): Promise<void> {
  const { shared, testsFailed = false } = globalThis as { shared?: Shared; testsFailed?: boolean };
  if (!shared) return;
  // With --bail, Jest calls this after each file that fails, while the tests of other files still run.
  shared.ended ??= end(shared, testsFailed);
  await shared.ended;
}

async function end({ folder, service, store }: Shared, failed: boolean) {
  await service.stop();
  await store.close();
  const logs = join(folder, "logs");
  // A test that fails does not clean up.
  const left = failed ? [] : await leftovers(join(folder, "tmp"), logs);
  await rm(keptLogs, { recursive: true, force: true });
  if (failed) {
    await endProcesses(logs);
    await cp(logs, keptLogs, { recursive: true });
    console.error(`The logs of the local services are in ${keptLogs}.`);
  }
  await rm(folder, { recursive: true, maxRetries: 5 });
  if (left.length > 0) throw new Error(`The tests left behind:\n${left.join("\n")}`);
}
