import type { APIGatewayProxyEvent, Context } from "aws-lambda";

/** What Lambda passes beside an event, as far as the functions read it. */
export const context = { getRemainingTimeInMillis: () => 6000 } as Context;

/** A body of the usual size. */
export const body = JSON.stringify({ name: "Rex", categoryId: 1, status: "available" });

/** The event of a request, as API Gateway hands it over after the authorizer. */
export function event(parts: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent {
  const { queryStringParameters } = parts;
  return {
    headers: {
      Accept: "*/*",
      "Content-Type": "application/json",
      Host: "api.example",
      "User-Agent": "bench",
      "X-Forwarded-For": "127.0.0.1",
      "X-Forwarded-Port": "443",
      "X-Forwarded-Proto": "https",
    },
    pathParameters: null,
    body: null,
    isBase64Encoded: false,
    multiValueQueryStringParameters:
      queryStringParameters &&
      Object.fromEntries(Object.entries(queryStringParameters).map(([name, value]) => [name, [value ?? ""]])),
    requestContext: {
      requestId: "bench",
      domainName: "api.example",
      authorizer: { keyId: "key_bench", scopes: "pets:read pets:write" },
    },
    ...parts,
  } as unknown as APIGatewayProxyEvent;
}
