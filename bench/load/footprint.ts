import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type BenchOptions, format, table } from "../report.ts";
import { fillOverHttp, load, requests } from "./load.ts";
import { type Server, startLocalService } from "./processes.ts";

const IDLE_SECONDS = 5;
/** Connections of each of the four requests, which are sent at the same time. */
const CONNECTIONS = 4;

/**
 * Reads a value of /proc/<pid>/status, in MiB. Other systems than Linux have no such file.
 *
 * @param field VmRSS, the resident memory, or VmHWM, its peak
 */
async function memory({ pid }: Server, field: "VmRSS" | "VmHWM"): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
  return kib ? format(Number(kib) / 1024, 0) : "-";
}

/** Starts the service, and returns it with the seconds until its first response. */
async function timeStart(folder: string) {
  const start = performance.now();
  const server = await startLocalService(folder);
  const { status } = await fetch(`${server.url}/pets`, {
    headers: { authorization: `Bearer ${server.key}` },
  });
  if (status !== 200) throw new Error(`${server.url}/pets responded with ${status}.`);
  return { server, seconds: format((performance.now() - start) / 1000) };
}

/** How long the local service takes to start, and how much memory it needs. */
export async function localFootprint({ quick }: BenchOptions) {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-bench-"));
  try {
    const first = await timeStart(folder);
    await first.server.stop();
    const { server, seconds } = await timeStart(folder);
    try {
      await setTimeout(IDLE_SECONDS * 1000);
      const idle = await memory(server, "VmRSS");
      const all = Object.values(requests(await fillOverHttp(server)));
      const options = { seconds: quick ? 3 : 60, connections: CONNECTIONS };
      await Promise.all(all.map((request) => load(server, request, options)));
      const peak = await memory(server, "VmHWM");
      const rows = [
        ["start with an empty data folder, s", first.seconds],
        ["start with unchanged sources, s", seconds],
        ["memory when idle, MiB", idle],
        [`peak memory with ${CONNECTIONS * all.length} connections, MiB`, peak],
      ];
      return { footprint: table(["", "local service"], rows) };
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
