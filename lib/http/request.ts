import type { APIGatewayProxyEvent } from "aws-lambda";
import type * as z from "zod/mini";
import { ApiError } from "../errors.ts";
import type { Operation } from "../operations.ts";
import { readBody } from "./body.ts";
import { header } from "./headers.ts";
import { type LinkQuery, link } from "./links.ts";

type Output<O, Part extends "params" | "query" | "headers" | "body"> =
  O extends Record<Part, infer S extends z.ZodMiniType> ? z.output<S> : undefined;

/** A valid request, its parts as the operation describes them. */
export interface ApiRequest<O extends Operation> {
  params: Output<O, "params">;
  query: Output<O, "query">;
  headers: Output<O, "headers">;
  body: Output<O, "body">;
  /** id of the caller's API key */
  caller: string;
  /**
   * Writes a Link header (RFC 8288) that points to a path of this API.
   *
   * @param rel the relation type
   * @param query a parameter that is undefined is left out
   */
  link(rel: string, path: string, query?: LinkQuery): string;
}

/**
 * Decodes the path parameters, which API Gateway passes on as the client sent them, percent-encoded.
 *
 * @returns undefined when the encoding is invalid
 */
function readParams({ pathParameters }: APIGatewayProxyEvent): Record<string, string> | undefined {
  try {
    return Object.fromEntries(
      Object.entries(pathParameters ?? {}).map(([name, value]) => [name, decodeURIComponent(value ?? "")]),
    );
  } catch {
    return undefined;
  }
}

const namesOf = (part: z.ZodMiniObject | undefined) => Object.keys(part?.shape ?? {});

/** Reads the named query parameters, and returns the names of those that were sent more than once. */
function readQuery({ multiValueQueryStringParameters }: APIGatewayProxyEvent, names: string[]) {
  const sent = multiValueQueryStringParameters ?? {};
  return {
    values: Object.fromEntries(
      names.flatMap((name) => (sent[name]?.length === 1 ? [[name, sent[name][0]]] : [])),
    ),
    repeated: names.filter((name) => (sent[name]?.length ?? 0) > 1),
  };
}

/** Returns the rules that a part breaks, with the names of the fields. Only a body can be wrong as a whole. */
const problems = (result: z.core.util.SafeParseResult<unknown> | undefined): string[] =>
  (result?.error?.issues ?? []).map(({ path, message }) => `${String(path[0] ?? "body")} ${message}`);

/**
 * Validates every part of a request in one pass.
 *
 * @param event the request as API Gateway's REST proxy integration sends it
 * @returns the parts, with defaults filled in and unknown members left out
 * @throws ApiError `not_found` for a path that names no resource (contract 5.2), else `unsupported_media_type`,
 *   `payload_too_large` or `invalid_request`, whose message names every invalid field and no value (contract 7.3)
 */
export function readRequest<O extends Operation>(operation: O, event: APIGatewayProxyEvent): ApiRequest<O> {
  const params = operation.params?.safeParse(readParams(event));
  if (params?.error) throw new ApiError("not_found");

  const { values, repeated } = readQuery(event, namesOf(operation.query));
  const query = operation.query?.safeParse(values);
  const headers = operation.headers?.safeParse(
    Object.fromEntries(namesOf(operation.headers).map((name) => [name, header(event, name.toLowerCase())])),
  );
  const body = operation.body?.safeParse(readBody(event));

  const wrong = [
    ...repeated.map((name) => `${name} must occur only once`),
    ...problems(query),
    ...problems(headers),
    ...problems(body),
  ];
  if (wrong.length > 0) throw new ApiError("invalid_request", { message: `${wrong.join("; ")}.` });

  return {
    params: params?.data,
    query: query?.data,
    headers: headers?.data,
    body: body?.data,
    caller: String(event.requestContext.authorizer?.keyId),
    link: (rel, path, search) => link(event, rel, path, search),
  } as ApiRequest<O>;
}
