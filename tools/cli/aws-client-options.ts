import { timeouts } from "../../lib/dynamo/client.ts";

/**
 * The settings of a client of AWS that gives up after about 10 s without a response. An operator can be far from AWS, so a
 * call can take longer than those of the functions.
 */
export const AWS_CLIENT_OPTIONS = { maxAttempts: 2, requestHandler: timeouts(5000) };
