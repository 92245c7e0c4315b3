import type { LocalRequest } from "./request.ts";
import type { RouteMatch } from "./router.ts";

/** The parts of a request's context that the emulator sets. */
export interface RequestContext {
  requestId: string;
  extendedRequestId: string;
  stage: string;
  /** what the authorizer said about the caller */
  authorizer: Record<string, unknown>;
}

/**
 * The event of a Lambda proxy integration: the fields that the functions read, and some others, without those that repeat
 * others, such as the last value of each header.
 */
export function proxyEvent(
  { message, method, path, query, body }: LocalRequest & { body: Buffer },
  { route, pathParameters }: RouteMatch,
  requestContext: RequestContext,
) {
  // As the first proxy received it.
  const scheme = /^https\b/i.test(message.headersDistinct["x-forwarded-proto"]?.[0] ?? "") ? "https" : "http";
  const parameters = [...Map.groupBy(query, ([name]) => name)];
  return {
    resource: route.path,
    path,
    httpMethod: method,
    multiValueHeaders: { ...message.headersDistinct, "x-forwarded-proto": [scheme] },
    multiValueQueryStringParameters: Object.fromEntries(
      parameters.map(([name, same]) => [name, same.map(([, value]) => value)]),
    ),
    pathParameters,
    requestContext,
    body: body.length > 0 ? body.toString() : null, // with U+FFFD for invalid UTF-8
    isBase64Encoded: false,
  };
}
