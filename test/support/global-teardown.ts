import { spawnSync } from "node:child_process";
import { cpSync, globSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Shared } from "./global-setup.ts";

/** Where the logs stay if a test fails. */
const keptLogs = fileURLToPath(new URL("../../build/test-logs", import.meta.url));

/**
 * Stops what the tests shared. Keeps the logs of the local services if a test failed.
 *
 * @throws Error if the tests passed, and left a file or a process behind
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
  rmSync(keptLogs, { recursive: true, force: true });
  const faults: string[] = [];
  if (failed) {
    // A test that fails does not clean up.
    spawnSync("kill", Object.keys(processesOf(logs)));
    cpSync(logs, keptLogs, { recursive: true });
    console.error(`The logs of the local services are in ${keptLogs}.`);
  } else {
    // Some are about to end.
    for (let n = 0; n < 50 && Object.keys(processesOf(logs)).length > 0; n++) await setTimeout(100);
    for (const [pid, command] of Object.entries(processesOf(logs)))
      faults.push(`The tests left the process ${pid}: ${command}`);
    for (const name of readdirSync(join(folder, "tmp")))
      faults.push(`The tests left the temporary file ${name}`);
  }
  rmSync(folder, { recursive: true, maxRetries: 5 });
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

/** Returns the text of a file, which can be gone or belong to somebody else. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Returns the commands of the processes that the tests started and that run, by their ids. Only Linux lists processes. */
const processesOf = (logs: string): Record<string, string> =>
  Object.fromEntries(
    globSync("[0-9]*", { cwd: "/proc" })
      // Each has the folder of logs in its environment. Jest ends its own workers.
      .filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(`TEST_LOGS=${logs}`))
      .map((pid) => [pid, read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")] as const)
      .filter(([, command]) => !command.includes("jest-worker")),
  );
