import { setImmediate, setTimeout } from "node:timers/promises";

/** Timers are late by up to this many milliseconds. */
const TIMER_PRECISION = 2;

async function waitUntil(time: number): Promise<void> {
  const rest = time - performance.now();
  if (rest > TIMER_PRECISION) await setTimeout(rest - TIMER_PRECISION);
  while (performance.now() < time) await setImmediate();
}

/**
 * Starts requests at a constant rate, whether or not earlier ones have a response (an open loop). Measure a latency from
 * the time at which the request was due: then a delay of the service or of this process counts for every request that
 * it delays. A loop that waits for each response sends fewer requests while the service is slow, and hides this
 * ("coordinated omission").
 *
 * @param rate requests a second
 * @param send gets the number of the request, from 0, and the time it was due on the clock of `performance.now()`
 * @returns when all requests have ended
 */
export async function openLoop(rate: number, count: number, send: (n: number, due: number) => Promise<void>) {
  const start = performance.now();
  const sent: Promise<void>[] = [];
  for (let n = 0; n < count; n++) {
    const due = start + (n * 1000) / rate;
    await waitUntil(due);
    sent.push(send(n, due));
  }
  await Promise.all(sent);
}
