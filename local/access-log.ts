import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** API Gateway's $context variables of one request, by name; what is undefined is logged as `-`. */
export interface RequestContext {
  requestId: string;
  /** with the stage, without the query */
  path: string;
  /** not a $context variable: for the terminal, which shows no values of the query */
  parameterNames: string[];
  /** not a $context variable: the Error's code, for the terminal */
  errorCode?: string;
  extendedRequestId: string;
  httpMethod: string;
  stage: string;
  requestTime: string;
  resourcePath?: string;
  status?: number;
  /** milliseconds, like every other latency */
  responseLatency?: number;
  integrationLatency?: number;
  "integration.latency"?: number;
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

export function newRequestContext(message: IncomingMessage, stage: string): RequestContext {
  const [path = "", query = ""] = (message.url ?? "").split("?");
  return {
    requestId: randomUUID(),
    path,
    parameterNames: query === "" ? [] : query.split("&").map((parameter) => parameter.replace(/=.*$/s, "")),
    extendedRequestId: randomUUID(),
    httpMethod: message.method ?? "",
    stage,
    requestTime: commonLogTime(new Date()),
  };
}

/** @param format with $context variables, as in the template */
export function formatAccessLog(format: string, context: RequestContext): string {
  return format.replaceAll(/\$context\.([\w.]+)/g, (_, name) => {
    const value = context[name as keyof RequestContext];
    return value === undefined ? "-" : JSON.stringify(String(value)).slice(1, -1);
  });
}

/** $context.requestTime: `dd/MMM/yyyy:HH:mm:ss +0000`. */
function commonLogTime(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(" ");
  return `${day}/${month}/${year}:${time} +0000`;
}
