import { readFileSync } from "node:fs";
import { timeouts } from "../../lib/dynamo/client.ts";

/**
 * Returns the settings of a client of AWS. Each attempt gives up after 5 s without a response: an operator can be far from
 * AWS, so it has more time than in the functions. HTTPS_PROXY, NO_PROXY and AWS_CA_BUNDLE apply, as for `cdk`.
 *
 * @param maxAttempts of each call
 * @throws Error if the file AWS_CA_BUNDLE cannot be read
 */
export function awsClientOptions(maxAttempts = 2) {
  const ca = process.env.AWS_CA_BUNDLE && readFileSync(process.env.AWS_CA_BUNDLE);
  const requestHandler = { ...timeouts(5000), httpsAgent: { proxyEnv: process.env, ca } };
  return { maxAttempts, requestHandler, clientConfig: { requestHandler } }; // the latter for the calls of SSO
}
