import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/**
 * API Gateway's $context variables of a request. It has the required ones from its start; each step of the gateway adds
 * those that it determines. Latencies are in milliseconds.
 */
export interface RequestContext {
  requestId: string;
  extendedRequestId: string;
  requestTime: string;
  stage: string;
  httpMethod: string;
  "identity.sourceIp": string;
  resourcePath?: string;
  [name: `authorizer.${string}`]: unknown;
  [name: `integration.${string}`]: string | number;
  integrationLatency?: number;
  "error.responseType"?: string;
  status?: number;
  responseLatency?: number;
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Returns the variables that a request has from its start. A client can choose the `requestId`, as a UUID (API Gateway guide,
 * "Access logging for REST APIs").
 */
export function requestContext(message: IncomingMessage, apiStageName: string): RequestContext {
  const { method = "", headers, socket } = message;
  const chosen = String(headers["x-amzn-requestid"]);
  return {
    requestId: UUID.test(chosen) ? chosen : randomUUID(),
    extendedRequestId: `${randomBytes(11).toString("base64url")}=`,
    requestTime: commonLogTime(new Date()),
    stage: apiStageName,
    httpMethod: method,
    "identity.sourceIp": socket.remoteAddress ?? "",
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
