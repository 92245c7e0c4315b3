import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import autocannon from "autocannon";
import { readStack } from "../../infra/assembly/template.ts";
import { localStack } from "../../infra/stages.ts";
import { body } from "../events.ts";
import { bars } from "../plot.ts";
import { fixed, type Section, type Subject, table, whole } from "../section.ts";
import { interleave, median } from "../stats.ts";
import { type Running, startBare, startService } from "./processes.ts";

const CONNECTIONS = 8;
const ANIMALS = 60;

type Server = Running & { key?: string };

const headersOf = ({ key }: Server) => ({
  "content-type": "application/json",
  ...(key && { authorization: `Bearer ${key}` }),
});

/** Adds some animals; returns the id of the last. */
async function fill(server: Server): Promise<string> {
  let id = "";
  for (let n = 0; n < ANIMALS; n++) {
    const status = ["available", "pending", "sold"][n % 3];
    const response = await fetch(`${server.url}/pets`, {
      method: "POST",
      headers: headersOf(server),
      body: JSON.stringify({ name: `Animal ${n}`, categoryId: 1, status }),
    });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`${server.url} answered ${response.status}: ${text}`);
    id = String(JSON.parse(text).id);
  }
  return id;
}

const operations = (id: string): Record<string, { path: string; method: "GET" | "POST"; body?: string }> => ({
  get: { path: `/pets/${id}`, method: "GET" },
  "list one status": { path: "/pets?status=sold", method: "GET" },
  "list all": { path: "/pets", method: "GET" },
  create: { path: "/pets", method: "POST", body },
});

async function fire(
  server: Server,
  { path, ...request }: ReturnType<typeof operations>[string],
  seconds: number,
) {
  const { requests, latency, non2xx, errors } = await autocannon({
    url: server.url + path,
    ...request,
    headers: headersOf(server),
    connections: CONNECTIONS,
    duration: seconds,
  });
  return { rate: requests.average, p50: latency.p50, p99: latency.p99, failed: non2xx + errors };
}

/** The local service under load, beside a bare server. */
export async function localLoad({ quick, assembly }: Subject): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-bench-"));
  const tableName = readStack(assembly, localStack).outputs.PetsTableName ?? "";
  const servers: Server[] = [];
  try {
    servers.push(await startService(folder));
    servers.push(await startBare(folder, tableName, assembly));
    const [rounds, seconds] = quick ? [1, 1] : [3, 3];
    const all: { server: Server; operations: ReturnType<typeof operations> }[] = [];
    for (const server of servers) all.push({ server, operations: operations(await fill(server)) });
    const names = Object.keys(operations(""));
    const tasks = names.flatMap((name) =>
      all.map(
        ({ server, operations }) =>
          () =>
            fire(server, operations[name] as never, seconds),
      ),
    );
    // Instances start, and code becomes faster as it runs.
    const warmUp = names.flatMap((name) =>
      all.map(
        ({ server, operations }) =>
          () =>
            fire(server, operations[name] as never, 1),
      ),
    );
    await interleave(1, warmUp);
    const results = (await interleave(rounds, tasks)).map((runs) => ({
      rate: median(runs.map(({ rate }) => rate)),
      p50: median(runs.map(({ p50 }) => p50)),
      p99: median(runs.map(({ p99 }) => p99)),
      failed: runs.reduce((sum, { failed }) => sum + failed, 0),
    }));
    return report(names, results, `${rounds} rounds of ${seconds} s`);
  } finally {
    for (const server of servers) await server.stop();
    await rm(folder, { recursive: true });
  }
}

type Result = Awaited<ReturnType<typeof fire>>;

function report(names: string[], results: Result[], effort: string): Section {
  const pairs = names.map((name, n) => {
    const [service, bare] = results.slice(2 * n) as [Result, Result];
    return { name, service, bare };
  });
  const failed = results.reduce((sum, { failed }) => sum + failed, 0);
  const text = `## The local service under load

What \`npm start\` serves (gateway, authorizer, functions in processes of their own, embedded store on disk), and one
process of node:http that makes the same calls of the same kind of store, with no keys and no checks. ${CONNECTIONS} connections,
medians of ${effort}, in turns; client, servers and stores share this machine. ${failed === 0 ? "No request failed." : `${failed} requests failed.`}

![Requests a second](benchmarks/load.svg)

${table(
  ["", "requests/s", "p50, ms", "p99, ms", "bare: requests/s", "p50, ms", "p99, ms", "service / bare"],
  pairs.map(({ name, service, bare }) => [
    name,
    whole(service.rate),
    fixed(service.p50, 0),
    fixed(service.p99, 0),
    whole(bare.rate),
    fixed(bare.p50, 0),
    fixed(bare.p99, 0),
    fixed(service.rate / bare.rate, 2),
  ]),
)}

This says how the imitation of AWS on one machine does, not how Lambda does: there each request at a time has an
instance and its processor to itself.
`;
  const plot = bars(
    "Requests a second on this machine",
    "/s",
    ["the service", "bare server"],
    pairs.flatMap(({ name, service, bare }) => [
      { label: name, values: [service.rate, 0] },
      { label: "", values: [0, bare.rate] },
    ]),
  );
  return { text, plots: { "load.svg": plot } };
}
