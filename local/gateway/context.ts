import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** API Gateway's $context variables of a request, by name. Latencies are in milliseconds. */
export interface ContextVariables {
  requestId?: string;
  extendedRequestId?: string;
  requestTime?: string;
  stage?: string;
  httpMethod?: string;
  /** with the stage, without the query */
  path?: string;
  resourcePath?: string;
  status?: number;
  responseLatency?: number;
  integrationLatency?: number;
  /** the id of the invocation, which the function's log lines have as well */
  "integration.requestId"?: string;
  /** of the invocation: 200 also when the function fails */
  "integration.status"?: number;
  "authorizer.latency"?: number;
  "authorizer.requestId"?: string;
  "authorizer.error"?: string;
  "authorizer.keyId"?: unknown;
  "error.responseType"?: string;
}

/** The variables that a request has from its start. */
export type RequestContext = Required<
  Pick<ContextVariables, "requestId" | "extendedRequestId" | "requestTime" | "stage" | "httpMethod" | "path">
>;

/**
 * How a step of a request ended: with a value, or with the type of the gateway response that refuses the request, such
 * as THROTTLED. It also has the variables that the step determined.
 */
export type Step<T> = { variables: ContextVariables } & ({ value: T } | { refusal: string });

/** Refuses a request with a gateway response. */
export const refuse = (refusal: string, variables: ContextVariables = {}) => ({ refusal, variables });

export function requestContext({ url = "", method = "" }: IncomingMessage, stage: string): RequestContext {
  return {
    requestId: randomUUID(),
    extendedRequestId: randomUUID(),
    requestTime: commonLogTime(new Date()),
    stage,
    httpMethod: method,
    path: url.replace(/\?.*$/s, ""),
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
    const value = variables[name as keyof ContextVariables];
    return value === undefined ? "-" : JSON.stringify(String(value)).slice(1, -1);
  });
}
