import { createHistogram } from "node:perf_hooks";
import { type HttpClient, operations } from "../http.ts";
import { format, table } from "../report.ts";
import { openLoop } from "./open-loop.ts";

/** Seconds of requests that are sent first and not counted, at most. */
const WARM_UP = 5;

/** Sends requests of all operations in turns. @param rate requests a second, of all operations together */
async function sendInTurns(client: HttpClient, petId: string, rate: number, seconds: number) {
  const turns = operations.map(({ name, request }) => ({
    name,
    request: request(petId),
    /** nanoseconds */
    latencies: createHistogram(),
    /** why requests failed: a status of 400 or more, or the code of a network error */
    failures: [] as string[],
  }));
  await openLoop(rate, Math.ceil(rate * seconds), async (n, due) => {
    const { request, latencies, failures } = turns[n % turns.length] as (typeof turns)[number];
    try {
      const status = await client.send(request);
      if (status >= 400) failures.push(`status ${status}`);
    } catch (error) {
      failures.push((error as NodeJS.ErrnoException).code ?? (error as Error).message);
    }
    latencies.record(Math.max(1, Math.round((performance.now() - due) * 1e6)));
  });
  return turns;
}

/**
 * Measures the latency of the operations at a constant rate, once the instances are warm.
 *
 * @param petId the id of an existing pet
 * @param rate requests a second, of all operations together
 * @returns a table, and the reasons why requests failed
 */
export async function measureOperations(client: HttpClient, petId: string, rate: number, seconds: number) {
  await sendInTurns(client, petId, rate, Math.min(WARM_UP, seconds));
  const outcomes = await sendInTurns(client, petId, rate, seconds);
  const rows = outcomes.map(({ name, latencies, failures }) => [
    name,
    format(latencies.count, 0),
    format(failures.length, 0),
    ...[50, 90, 99].map((percent) => format(latencies.percentile(percent) / 1e6)),
  ]);
  return {
    table: table(["", "requests", "failed", "p50, ms", "p90, ms", "p99, ms"], rows),
    failures: outcomes.flatMap(({ failures }) => failures),
  };
}
