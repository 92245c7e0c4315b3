import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** API Gateway's $context variables of a request, by name, such as `authorizer.keyId`. Latencies are in milliseconds. */
export type ContextVariables = Record<string, unknown>;

/**
 * How a step of a request ended: with a value, or with the type of the gateway response that refuses the request, such
 * as THROTTLED. It also has the variables that the step determined.
 */
export type Step<T> = { variables: ContextVariables } & ({ value: T } | { refusal: string });

/** Refuses a request with a gateway response. */
export const refuse = (refusal: string, variables: ContextVariables = {}) => ({ refusal, variables });

export type RequestContext = ReturnType<typeof requestContext>;

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
export function formatAccessLog(format: string, variables: ContextVariables): string {
  return format.replaceAll(/\$context\.([\w.]+)/g, (_, name) => {
    const value = variables[name];
    return value === undefined ? "-" : JSON.stringify(String(value)).slice(1, -1);
  });
}
