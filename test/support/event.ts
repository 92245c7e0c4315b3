import type { APIGatewayProxyEvent, APIGatewayTokenAuthorizerEvent, Context } from "aws-lambda";

import { exampleOf } from "../../lib/examples.ts";
import type { Operation } from "../../lib/operation.ts";

/** The part of Lambda's context that the functions read. */
export const context = { getRemainingTimeInMillis: () => 6000 } as Context;

/** The parts of a request that tests set; the rest has defaults. */
interface RequestParts {
  path?: Record<string, string>;
  query?: Record<string, string[]>;
  /** a repeated header has several values */
  headers?: Record<string, string | string[]>;
  body?: string | null;
  isBase64Encoded?: boolean;
  /** null when there is none */
  authorizer?: Record<string, string> | null;
}

/** The event of an authenticated request. Unless headers are given, it has the Content-Type of a JSON body. */
export const requestEvent = ({
  path,
  query,
  headers = { "Content-Type": "application/json" },
  body = null,
  isBase64Encoded = false,
  authorizer = { keyId: "key_test", scopes: "pets:read pets:write" },
}: RequestParts = {}) =>
  ({
    multiValueHeaders: Object.fromEntries(
      Object.entries({ Host: "api.example", ...headers }).map(([name, value]) => [name, [value].flat()]),
    ),
    multiValueQueryStringParameters: query ?? null,
    pathParameters: path ?? null,
    body,
    isBase64Encoded,
    requestContext: { requestId: "request-1", domainName: "api.example", authorizer },
  }) as unknown as APIGatewayProxyEvent;

/**
 * The event of a valid request to an operation: its example.
 *
 * @param petId the id of a pet, if the path has one
 */
export const exampleEvent = ({ params, body }: Operation, petId: string, parts: RequestParts = {}) =>
  requestEvent({
    ...(params && { path: Object.fromEntries(Object.keys(params.shape).map((name) => [name, petId])) }),
    ...(body && { body: JSON.stringify(exampleOf(body)) }),
    ...parts,
  });

/**
 * The event that API Gateway sends to the authorizer for GET /pets.
 *
 * @param authorizationToken the value of the Authorization header
 */
export const authorizerEvent = (authorizationToken: string): APIGatewayTokenAuthorizerEvent => ({
  type: "TOKEN",
  authorizationToken,
  methodArn: "arn:aws:execute-api:eu-west-1:123456789012:abc/v1/GET/pets",
});
