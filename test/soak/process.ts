import { readdirSync, readFileSync } from "node:fs";

// Linux tells about processes in /proc; elsewhere these programs do not run.

/** The resident memory of a process, in MiB. */
export function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kib) / 1024);
}

/** How many files and sockets a process has open. */
export const openDescriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** The function processes that a local service has started. */
export function functionProcesses(service: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
        return (
          Number(parent) === service &&
          readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("lambda-runtime.ts")
        );
      } catch {
        return false; // it ended meanwhile
      }
    });
}
