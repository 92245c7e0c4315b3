import type { APIGatewayProxyEvent } from "aws-lambda";

/** The event that API Gateway sends for a request that the authorizer has admitted. @param parts what it has */
export function requestEvent(parts: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent {
  return {
    multiValueHeaders: {
      Accept: ["*/*"],
      "Content-Type": ["application/json"],
      Host: ["api.example"],
      "User-Agent": ["bench"],
      "X-Forwarded-For": ["127.0.0.1"],
      "X-Forwarded-Port": ["443"],
      "X-Forwarded-Proto": ["https"],
    },
    pathParameters: null,
    multiValueQueryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    requestContext: {
      requestId: "bench",
      domainName: "api.example",
      authorizer: { keyId: "key_bench", scopes: "pets:read pets:write" },
    },
    ...parts,
  } as unknown as APIGatewayProxyEvent;
}
