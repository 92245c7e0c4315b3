import type { APIGatewayProxyEvent, APIGatewayTokenAuthorizerEvent, Context } from "aws-lambda";
import * as z from "zod/mini";
import { scopes } from "../../lib/api-key.ts";
import type { Operation } from "../../lib/operation.ts";
import { exampleRequest } from "./example-request.ts";

/** The part of Lambda's context that the functions read, with more time than a busy machine needs for three attempts. */
export const context = { getRemainingTimeInMillis: () => 60_000 } as Context;

/** The parts of a request that tests set; the rest has defaults. */
interface RequestParts {
  path?: Record<string, string>;
  query?: Record<string, string[]>;
  /** a repeated header has several values */
  headers?: Record<string, string | string[]>;
  body?: string | null;
  isBase64Encoded?: boolean;
  /** null when there is none */
  authorizer?: Record<string, unknown> | null;
}

/** The event of an authenticated request. Unless headers are given, it has the Content-Type of a JSON body. */
export const requestEvent = ({
  path,
  query,
  headers = { "Content-Type": "application/json" },
  body = null,
  isBase64Encoded = false,
  authorizer = { keyId: "key_test", scopes: scopes.join(" ") },
}: RequestParts = {}) =>
  ({
    multiValueHeaders: Object.fromEntries(
      Object.entries({ Host: "api.example", ...headers }).map(([name, value]) => [name, [value].flat()]),
    ),
    multiValueQueryStringParameters: query ?? null,
    pathParameters: path ?? null,
    body,
    isBase64Encoded,
    requestContext: { requestId: "request-1", authorizer },
  }) as unknown as APIGatewayProxyEvent;

/** The names of the parameters that a request to an operation can leave out. */
const optionalOf = ({ query, headers }: Operation) =>
  Object.entries<z.core.$ZodType>({ ...query?.shape, ...headers?.shape })
    .filter(([, schema]) => z.safeParse(schema, undefined).success)
    .map(([name]) => name);

/**
 * The event of a valid request to an operation: its example, with the required parameters. No item has the ids of its path.
 *
 * @param parts replace those of the example
 * @param optional names of optional parameters to send as well
 */
export function exampleEvent(operation: Operation, parts: RequestParts = {}, optional: string[] = []) {
  const { params: path, query, headers, body } = exampleRequest(operation);
  if (headers["Idempotency-Key"]) headers["Idempotency-Key"] = crypto.randomUUID(); // each event can have another parent
  const leftOut = optionalOf(operation).filter((name) => !optional.includes(name));
  const sent = (part: object) => Object.entries(part).filter(([name]) => !leftOut.includes(name));
  return requestEvent({
    path,
    query: Object.fromEntries(sent(query).map(([name, value]) => [name, [value]])),
    headers: { "Content-Type": "application/json", ...Object.fromEntries(sent(headers)) },
    body,
    ...parts,
  });
}

/**
 * The events of exampleEvent by what they send: all optional parameters, unless the operation refuses that, none, and each
 * one alone.
 */
export function exampleEvents(operation: Operation) {
  const names = optionalOf(operation);
  const isRefused = operation.query?.safeParse(exampleRequest(operation).query).success === false;
  const sent = new Map([...(isRefused ? [] : [["all", names] as const]), ["none", []]]);
  for (const name of names) sent.set(`only ${name}`, [name]);
  return [...sent].map(([what, optional]) => ({
    what,
    optional,
    eventFor: (parts: RequestParts = {}) => exampleEvent(operation, parts, optional),
  }));
}

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
