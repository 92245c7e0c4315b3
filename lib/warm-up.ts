/**
 * Makes the first call of a function's client while the function starts. That call costs some 30 ms of CPU for the
 * TLS connection and for code that is compiled on first use; a request should not have to wait for it.
 *
 * @param touch reads something small
 * @returns settles when it is done; a failure is left for the first request to meet
 */
export const warmUp = (touch: () => Promise<unknown>): Promise<void> =>
  touch().then(
    () => undefined,
    () => undefined,
  );
