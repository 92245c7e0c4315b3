import { readdir, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/**
 * Lists the processes that the tests started and that still run, as `<pid> <command>`. A process of the tests has the
 * run's temporary folder in its environment. Only Linux has this information; elsewhere the list is empty.
 *
 * @param temporaryFolder value of TMPDIR
 */
async function processesOf(temporaryFolder: string): Promise<string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      // A process can end, or belong to somebody else.
      const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
      const [environment, command] = await Promise.all([read("environ"), read("cmdline")]);
      const ours = environment.split("\0").includes(`TMPDIR=${temporaryFolder}`);
      // Jest ends its own workers.
      return ours && !command.includes("jest-worker") ? `${pid} ${command.replaceAll("\0", " ").trim()}` : "";
    }),
  );
  return found.filter((line) => line !== "");
}

/**
 * Lists what the tests left behind: files and folders in their temporary folder, and processes. It waits for
 * processes that are about to end.
 */
export async function leftovers(temporaryFolder: string): Promise<string[]> {
  let processes = await processesOf(temporaryFolder);
  for (let attempt = 0; processes.length > 0 && attempt < 50; attempt++) {
    await setTimeout(100);
    processes = await processesOf(temporaryFolder);
  }
  const files = await readdir(temporaryFolder);
  return [
    ...files.map((name) => `file ${temporaryFolder}/${name}`),
    ...processes.map((line) => `process ${line}`),
  ];
}
