import { readdir, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/**
 * Lists the processes that the tests started and that still run. A process of the tests has the run's folder of logs in its
 * environment. Only Linux has this information; elsewhere the list is empty.
 *
 * @param logs what `shared.logs` is
 */
async function processesOf(logs: string): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      // A process can end, or belong to somebody else.
      const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
      const [environment, command] = await Promise.all([read("environ"), read("cmdline")]);
      const ours = environment.split("\0").includes(`TEST_LOGS=${logs}`);
      // Jest ends its own workers.
      return ours && !command.includes("jest-worker")
        ? [{ pid: Number(pid), command: command.replaceAll("\0", " ").trim() }]
        : [];
    }),
  );
  return found.flat();
}

/** Ends the processes that the tests started. */
export async function endProcesses(logs: string): Promise<void> {
  for (const { pid } of await processesOf(logs)) {
    try {
      process.kill(pid);
    } catch {
      // It has just ended by itself.
    }
  }
}

/**
 * Lists what the tests left behind: files and folders in their temporary folder, and processes. It waits for
 * processes that are about to end.
 *
 * @param logs what `shared.logs` is, which every process of the tests inherits
 */
export async function leftovers(temporaryFolder: string, logs: string): Promise<string[]> {
  let processes = await processesOf(logs);
  for (let attempt = 0; processes.length > 0 && attempt < 50; attempt++) {
    await setTimeout(100);
    processes = await processesOf(logs);
  }
  const files = await readdir(temporaryFolder);
  return [
    ...files.map((name) => `file ${temporaryFolder}/${name}`),
    ...processes.map(({ pid, command }) => `process ${pid} ${command}`),
  ];
}
