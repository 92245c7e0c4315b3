import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/**
 * API Gateway's $context variables of a request. It has the required ones from its start; each step of the gateway adds
 * those that it determines. Latencies are in milliseconds.
 */
export interface RequestContext {
  requestId: string;
  requestTime: string;
  stage: string;
  httpMethod: string;
  resourcePath?: string;
  [name: `authorizer.${string}`]: unknown;
  [name: `integration.${string}`]: string | number;
  integrationLatency?: number;
  "error.responseType"?: string;
  status?: number;
  responseLatency?: number;
}

/** Returns the variables that a request has from its start. */
export function requestContext({ method = "" }: IncomingMessage, apiStageName: string): RequestContext {
  return {
    requestId: randomUUID(),
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
export function formatAccessLog(format: string, variables: Partial<RequestContext>): string {
  return format.replaceAll(/\$context\.([\w.]+)/g, (_, name) => {
    const value = variables[name as keyof RequestContext];
    return value === undefined ? "-" : JSON.stringify(String(value)).slice(1, -1);
  });
}
