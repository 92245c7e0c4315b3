import type { APIGatewayProxyEvent } from "aws-lambda";
import type * as z from "zod/mini";
import { ApiError } from "../errors.ts";
import { API_VERSION, type Operation } from "../operations.ts";
import { parseJson } from "./json.ts";

/** The largest body, in bytes. */
export const BODY_LIMIT = 16 * 1024;

type Output<O, Part extends "params" | "query" | "headers" | "body"> =
  O extends Record<Part, infer S extends z.ZodMiniType> ? z.output<S> : undefined;

/** The validated parts of a request, as the operation describes them. */
export interface ApiRequest<O extends Operation> {
  params: Output<O, "params">;
  query: Output<O, "query">;
  headers: Output<O, "headers">;
  body: Output<O, "body">;
  /** the id of the key that the request came with */
  caller: string;
}

/**
 * Looks a header up whatever its case; API Gateway keeps the client's.
 *
 * @param name in lower case
 */
function header(event: APIGatewayProxyEvent, name: string): string | undefined {
  const found = Object.entries(event.headers ?? {}).find(([key]) => key.toLowerCase() === name);
  return found?.[1];
}

/**
 * The address that clients reach the API by, for links.
 *
 * @returns {base_url} of SPEC 1, without a slash at its end
 */
export function baseUrl(event: APIGatewayProxyEvent): string {
  const scheme = header(event, "x-forwarded-proto") === "http" ? "http" : "https";
  return `${scheme}://${header(event, "host")}/${API_VERSION}`;
}

/** API Gateway hands path parameters over as they were sent, percent-encoded. */
function readParams(event: APIGatewayProxyEvent): Record<string, string> {
  try {
    return Object.fromEntries(
      Object.entries(event.pathParameters ?? {}).map(([name, value]) => [
        name,
        decodeURIComponent(value ?? ""),
      ]),
    );
  } catch (cause) {
    throw new ApiError("not_found", { cause });
  }
}

function readBody(event: APIGatewayProxyEvent): unknown {
  const [type, ...parameters] = (header(event, "content-type") ?? "").split(";").map((part) => part.trim());
  const charset = parameters.find((parameter) => /^charset=/i.test(parameter)) ?? "charset=utf-8";
  const coding = header(event, "content-encoding") ?? "identity";
  // JSON is UTF-8 (RFC 8259, 8.1).
  if (
    !/^application\/json$/i.test(type ?? "") ||
    !/^charset="?utf-8"?$/i.test(charset) ||
    !/^identity$/i.test(coding)
  ) {
    throw new ApiError("unsupported_media_type");
  }
  const bytes = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > BODY_LIMIT) throw new ApiError("payload_too_large");
  try {
    return parseJson(bytes.toString());
  } catch (cause) {
    throw new ApiError("invalid_request", { message: "The body must be well-formed JSON.", cause });
  }
}

/** The members that a part is described with. */
const namesOf = (part: z.ZodMiniType | undefined) =>
  Object.keys((part as z.ZodMiniObject | undefined)?.shape ?? {});

/** What is wrong with one part, each rule naming its field. */
function problems(
  part: "query" | "headers" | "body",
  result: z.core.util.SafeParseResult<unknown>,
): string[] {
  return (result.error?.issues ?? []).map(({ path, message }) => `${path.join(".") || part} ${message}`);
}

/**
 * Validates every part of a request in one pass.
 *
 * @param operation what the parts must be
 * @param event the request as API Gateway hands it over
 * @returns the parts, with defaults filled in and unknown members left out
 * @throws ApiError `not_found` for a path that can name no resource (SPEC 4.3), else
 *   `unsupported_media_type`, `payload_too_large` or `invalid_request`, whose message names every
 *   offending field and never its value
 */
export function readRequest<O extends Operation>(operation: O, event: APIGatewayProxyEvent): ApiRequest<O> {
  const params = operation.params?.safeParse(readParams(event));
  if (params?.error) throw new ApiError("not_found");

  const given = event.multiValueQueryStringParameters ?? {};
  const names = namesOf(operation.query);
  const repeated = names.filter((name) => (given[name]?.length ?? 0) > 1);
  const query = operation.query?.safeParse(
    Object.fromEntries(names.flatMap((name) => (given[name]?.length === 1 ? [[name, given[name][0]]] : []))),
  );
  const headers = operation.headers?.safeParse(
    Object.fromEntries(namesOf(operation.headers).map((name) => [name, header(event, name.toLowerCase())])),
  );
  const body = operation.body?.safeParse(readBody(event));

  const wrong = [
    ...repeated.map((name) => `${name} must be given once`),
    ...(query ? problems("query", query) : []),
    ...(headers ? problems("headers", headers) : []),
    ...(body ? problems("body", body) : []),
  ];
  if (wrong.length > 0) throw new ApiError("invalid_request", { message: `${wrong.join("; ")}.` });

  return {
    params: params?.data,
    query: query?.data,
    headers: headers?.data,
    body: body?.data,
    caller: String(event.requestContext.authorizer?.keyId),
  } as ApiRequest<O>;
}
