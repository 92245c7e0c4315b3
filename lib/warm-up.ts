// DynamoDB usually responds to a first call within 100 ms.
const PATIENCE_MS = 300;

/**
 * Makes the first call of a function's client while the function starts. That call costs about 30 ms of CPU for the
 * TLS connection and for code that is compiled on first use, and a request should not wait for it.
 *
 * @param ping reads something small until the signal aborts, so that a DynamoDB that does not respond delays the start
 *   by 300 ms only
 * @returns settles when the call has ended; a failure is left to the first request
 */
export const warmUp = (ping: (signal: AbortSignal) => Promise<unknown>): Promise<void> =>
  ping(AbortSignal.timeout(PATIENCE_MS)).then(
    () => undefined,
    () => undefined,
  );
