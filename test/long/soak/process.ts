import { readdirSync, readFileSync } from "node:fs";

// Linux lists processes in /proc; elsewhere these programs do not run.

/** The resident memory of a process, in MiB. */
export function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1024;
}

/** The number of files and sockets that a process has open. */
export const openDescriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
