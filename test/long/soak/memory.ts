import { readdirSync, readFileSync } from "node:fs";

// Linux lists processes in /proc; elsewhere this test does not run.

/** The resident memory of a process, in MiB. */
function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1024;
}

/** The number of files and sockets that a process has open. */
export const openDescriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** The resident memory of a process over time, because a single reading depends on the garbage collector. */
export interface Memory extends Disposable {
  /** Returns the mean since the last call, without the first half of that time, in MiB. */
  mean(): number;
}

/** Watches the resident memory of a process, until the result is disposed of. */
export function watchMemory(pid: number): Memory {
  let readings: number[] = [];
  const reading = setInterval(() => readings.push(residentMiB(pid)), 250);
  return {
    mean() {
      const recent = readings.slice(-Math.ceil(readings.length / 2));
      readings = [];
      return recent.reduce((sum, value) => sum + value, 0) / recent.length;
    },
    [Symbol.dispose]: () => clearInterval(reading),
  };
}
