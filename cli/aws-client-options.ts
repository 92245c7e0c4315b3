/** In milliseconds. An operator can be far from AWS, so a call can take longer than those of the functions. */
const LIMIT_MS = 5000;

/**
 * The settings of a client of AWS that gives up after about 10 s without a response. They do not limit a response that keeps
 * arriving.
 */
export const AWS_CLIENT_OPTIONS = {
  maxAttempts: 2,
  requestHandler: {
    connectionTimeout: LIMIT_MS,
    requestTimeout: LIMIT_MS,
    socketTimeout: LIMIT_MS,
    throwOnRequestTimeout: true,
  },
};
