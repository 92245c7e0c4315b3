import type { APIGatewayProxyEvent } from "aws-lambda";
import * as z from "zod/mini";
import { callerOf } from "../caller.ts";
import { ApiError } from "../errors.ts";
import type { Operation } from "../operation.ts";
import { REPEATED } from "../validation.ts";
import { readBody } from "./body.ts";
import { headerLines } from "./headers.ts";
import { linkHeader } from "./link-header.ts";

type Output<O, Part extends "params" | "query" | "headers" | "body"> =
  O extends Record<Part, infer S extends z.ZodMiniType> ? z.output<S> : undefined;

/** A valid request, its parts as the operation describes them. */
export interface ApiRequest<O extends Operation> {
  params: Output<O, "params">;
  query: Output<O, "query">;
  headers: Output<O, "headers">;
  body: Output<O, "body">;
  /** id of the caller's API key */
  keyId: string;
  /** Writes a Link header to a path, with the host that the client used. @param query of this operation's own parameters */
  linkHeader(rel: string, path: string, query: Output<O, "query">): string;
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

/** Reads the parameters that a part names, each of which can be sent once. */
const readValues = (part: z.ZodMiniObject | undefined, sent: (name: string) => string[] | undefined) =>
  Object.fromEntries(
    Object.keys(part?.shape ?? {}).map((name) => {
      const values = sent(name) ?? [];
      return [name, values.length > 1 ? REPEATED : values[0]];
    }),
  );

/**
 * Returns the rules that a part breaks, with the paths of the fields. An error of a whole part names the part. A rule that
 * several elements break is named once.
 */
const problems = (part: string, result: z.core.util.SafeParseResult<unknown> | undefined): Set<string> =>
  new Set(
    result?.error?.issues.map(({ path, message }) => {
      const names = path.filter((name) => typeof name === "string");
      return `${names.join(".") || part} ${message}`;
    }),
  );

/**
 * Validates every part of a request in one pass.
 *
 * @param event the request as API Gateway's REST proxy integration sends it
 * @returns the parts, with defaults filled in and unknown fields left out
 * @throws ApiError `not_found` for a path that names no resource (contract 5.2), else `unsupported_media_type`,
 *   `payload_too_large` or `invalid_request`, whose message names every invalid field and no value (contract 7.3)
 */
export function readRequest<O extends Operation>(operation: O, event: APIGatewayProxyEvent): ApiRequest<O> {
  const params = operation.params?.safeParse(readParams(event));
  if (params?.error) throw new ApiError("not_found");

  const { multiValueQueryStringParameters: sentQuery } = event;
  const query = operation.query?.safeParse(readValues(operation.query, (name) => sentQuery?.[name]));
  const sentHeader = (name: string) => headerLines(event, name.toLowerCase());
  const headers = operation.headers?.safeParse(readValues(operation.headers, sentHeader));
  const body = operation.body?.safeParse(readBody(event));

  const wrong = [...problems("query", query), ...problems("headers", headers), ...problems("body", body)];
  if (wrong.length > 0) throw new ApiError("invalid_request", { message: `${wrong.join("; ")}.` });

  return {
    params: params?.data,
    query: query?.data,
    headers: headers?.data,
    body: body?.data,
    keyId: callerOf(event).keyId,
    linkHeader: (rel, path, values) => {
      const search = operation.query && z.encode<z.ZodMiniType>(operation.query, values);
      return linkHeader(event, rel, path, search as Record<string, string | undefined> | undefined);
    },
  } as ApiRequest<O>;
}
