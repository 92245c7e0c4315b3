import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/**
 * API Gateway's $context variables of a request, by name. Each step of the gateway adds those that it determines, such as
 * `authorizer.latency`. Latencies are in milliseconds.
 */
export type RequestContext = Record<string, unknown> & ReturnType<typeof requestContext>;

/** Returns the variables that a request has from its start. */
export function requestContext({ method = "" }: IncomingMessage, apiStageName: string) {
  return {
    requestId: randomUUID(),
    extendedRequestId: randomUUID(),
    requestTime: commonLogTime(new Date()),
    stage: apiStageName,
    httpMethod: method,
  };
}

/** $context.requestTime: `dd/MMM/yyyy:HH:mm:ss +0000`. */
function commonLogTime(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(" ");
  return `${day}/${month}/${year}:${time} +0000`;
}

/**
 * Formats a line of the access log. A variable that a request does not have is `-`.
 *
 * @param format with $context variables, as in the template
 */
export function formatAccessLog(format: string, variables: Record<string, unknown>): string {
  return format.replaceAll(/\$context\.([\w.]+)/g, (_, name) => {
    const value = variables[name];
    return value === undefined ? "-" : JSON.stringify(String(value)).slice(1, -1);
  });
}
