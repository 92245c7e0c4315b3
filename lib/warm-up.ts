/**
 * Makes the first call of a function's client while the function starts. That call costs about 30 ms of CPU for the
 * TLS connection and for code that is compiled on first use, and a request should not wait for it.
 *
 * @param ping reads something small
 * @returns settles when the call is done; a failure is left to the first request
 */
export const warmUp = (ping: () => Promise<unknown>): Promise<void> =>
  ping().then(
    () => undefined,
    () => undefined,
  );
