import { WARM_UP_MS } from "./time-limits.ts";

/**
 * Makes the first call of a function's client while the function starts, so that no request waits for it. The first call
 * costs about 40 ms of CPU for the TLS connection and for code that is compiled on first use. Every function exports the
 * result as `ready`, which its entry (infra/bundle/lambda-entry.mjs) awaits.
 *
 * @param ping makes a small call until the signal aborts, so that a DynamoDB that does not respond delays the start only
 *   briefly
 * @returns resolves when the call has ended, even if it failed: the first request then makes the call itself
 */
export const warmUp = (ping: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> =>
  Promise.allSettled([ping(AbortSignal.timeout(WARM_UP_MS))]);
