import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PetStatus } from "../../lib/pet.ts";
import { type HttpRequest, httpClient, Latencies } from "../http.ts";
import { type BenchOptions, format, table } from "../report.ts";
import { body } from "../requests.ts";
import { interleave, median } from "../stats.ts";
import { type Server, startBareServer, startLocalService } from "./processes.ts";

const CONNECTIONS = 8;
const PETS = 60;

/** The requests that are measured, by operation. `id` is that of an existing pet. */
export const requests = (id: string) => ({
  get: { path: `/pets/${id}` },
  "list one status": { path: "/pets?status=sold" },
  "list all": { path: "/pets" },
  create: { path: "/pets", method: "POST" as const, body },
});

/** Creates some pets and returns the id of the last. */
export async function fillOverHttp({ url, key }: Server): Promise<string> {
  const headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
  let id = "";
  for (let n = 0; n < PETS; n++) {
    const pet = { name: `Animal ${n}`, categoryId: 1, status: PetStatus.options[n % 3] };
    const response = await fetch(`${url}/pets`, { method: "POST", headers, body: JSON.stringify(pet) });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`${url} responded with ${response.status}: ${text}`);
    id = String(JSON.parse(text).id);
  }
  return id;
}

/** Sends a request over every connection, and again as soon as the response arrives. @throws Error when a request fails */
export async function load(
  { url, key }: Server,
  request: HttpRequest,
  { seconds, connections = CONNECTIONS }: { seconds: number; connections?: number },
) {
  const client = httpClient(url, key, connections);
  const latencies = new Latencies();
  const start = performance.now();
  const end = start + seconds * 1000;
  const repeat = async () => {
    for (let sent = start; sent < end; ) {
      const status = await client.send(request);
      if (status >= 400) throw new Error(`${url}${request.path} responded with ${status}.`);
      const now = performance.now();
      latencies.record(now - sent);
      sent = now;
    }
  };
  await Promise.all(Array.from({ length: connections }, repeat));
  const rate = latencies.count / ((performance.now() - start) / 1000);
  await client.close();
  return { rate, p50: latencies.percentile(50), p99: latencies.percentile(99) };
}

type Result = Awaited<ReturnType<typeof load>>;

function medians(results: readonly Result[]): Result {
  const of = (value: keyof Result) => median(results.map((result) => result[value]));
  return { rate: of("rate"), p50: of("p50"), p99: of("p99") };
}

/** The local service under load, compared with a bare server. */
export async function localLoad({ quick, assembly }: BenchOptions) {
  const [rounds, seconds] = quick ? [1, 1] : [3, 3];
  const folder = await mkdtemp(join(tmpdir(), "animal-store-bench-"));
  const servers: Server[] = [];
  try {
    servers.push(await startLocalService(folder));
    servers.push(await startBareServer(folder, assembly));
    const targets: { server: Server; requests: ReturnType<typeof requests> }[] = [];
    for (const server of servers) targets.push({ server, requests: requests(await fillOverHttp(server)) });
    const names = Object.keys(requests("")) as (keyof ReturnType<typeof requests>)[];
    const tasks = (seconds: number) =>
      names.flatMap((name) =>
        targets.map((target) => () => load(target.server, target.requests[name], { seconds })),
      );
    // Instances start and V8 compiles code, so the first second is not measured.
    await interleave(1, tasks(1));
    const results = (await interleave(rounds, tasks(seconds))).map(medians);
    return { load: report(names, results) };
  } finally {
    for (const server of servers) await server.stop();
    await rm(folder, { recursive: true });
  }
}

function report(names: readonly string[], results: readonly Result[]): string {
  const cells = ({ rate, p50, p99 }: Result) => [format(rate, 0), format(p50), format(p99)];
  const rows = names.map((name, n) => {
    const [service, bare] = results.slice(2 * n) as [Result, Result];
    return [name, ...cells(service), ...cells(bare), format(service.rate / bare.rate, 2)];
  });
  const head = ["requests/s", "p50, ms", "p99, ms"];
  return table(["", ...head, ...head.map((name) => `bare: ${name}`), "service / bare"], rows);
}
