import type { APIGatewayProxyEvent, Context } from "aws-lambda";

/** What Lambda passes beside an event, as far as the functions read it. */
export const context = { getRemainingTimeInMillis: () => 6000 } as Context;

export interface EventParts {
  path?: Record<string, string>;
  query?: Record<string, string[]>;
  headers?: Record<string, string>;
  body?: string | null;
  isBase64Encoded?: boolean;
  authorizer?: Record<string, string>;
}

/** The event of an authenticated request; a body comes with the right Content-Type unless headers are given. */
export function event(parts: EventParts = {}): APIGatewayProxyEvent {
  const headers = parts.headers ?? { "Content-Type": "application/json" };
  return {
    headers: { Host: "api.example", ...headers },
    multiValueQueryStringParameters: parts.query ?? null,
    pathParameters: parts.path ?? null,
    body: parts.body ?? null,
    isBase64Encoded: parts.isBase64Encoded ?? false,
    requestContext: {
      requestId: "request-1",
      domainName: "api.example",
      authorizer: parts.authorizer ?? { keyId: "key_test", scopes: "pets:read pets:write" },
    },
  } as unknown as APIGatewayProxyEvent;
}
