// DynamoDB usually responds to a first call within 100 ms.
const TIMEOUT_MS = 300;

/**
 * Makes the first call of a function's client while the function starts, so that no request waits for it. The first call
 * costs about 40 ms of CPU for the TLS connection and for code that is compiled on first use. Every function exports the
 * result as `ready`, which its entry (infra/bundle/lambda-entry.mjs) awaits.
 *
 * @param ping makes a small call until the signal aborts, so that a DynamoDB that does not respond delays the start
 *   by 300 ms only
 * @returns resolves when the call has ended, even if it failed: the first request then makes the call itself
 */
export const warmUp = (ping: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> =>
  Promise.allSettled([ping(AbortSignal.timeout(TIMEOUT_MS))]);
