import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Running } from "./global-setup.ts";

/** Where the logs stay if a test fails. */
const keptLogs = fileURLToPath(new URL("../../build/test-logs", import.meta.url));

/**
 * Stops what the tests shared. Keeps the logs of the local services if a test failed.
 *
 * @throws Error if the tests passed, and left a file behind
 */
export default async function teardown(): Promise<void> {
  const known = globalThis as { running?: Running; testsFailed?: boolean };
  const { running, testsFailed } = known;
  if (!running) return;
  known.running = undefined; // with --bail, Jest calls this after each file that fails
  const { folder, service, store } = running;
  await service.stop();
  await store.close();
  rmSync(keptLogs, { recursive: true, force: true });
  const left = testsFailed ? [] : readdirSync(join(folder, "tmp")); // a test that fails does not clean up
  if (testsFailed) {
    cpSync(join(folder, "logs"), keptLogs, { recursive: true });
    console.error(`The logs of the local services are in ${keptLogs}.`);
  }
  rmSync(folder, { recursive: true, maxRetries: 5 });
  if (left.length > 0) throw new Error(`The tests left temporary files: ${left.join(", ")}`);
}
