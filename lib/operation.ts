import type * as z from "zod/mini";
import type { Scope } from "./api-key.ts";
import type { ErrorCode } from "./errors.ts";

/** The version segment that ends every base URL. Source: contract 1.1. */
export const API_VERSION = "v1";

/** One operation of the API, as data: routes, validation, documentation and tests all read it. */
export interface Operation {
  id: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** relative to the base URL, parameters in braces */
  path: string;
  summary: string;
  /** path parameters, from their decoded text; an invalid value means that no such resource exists */
  params?: z.ZodMiniObject;
  /** query parameters, from their decoded text */
  query?: z.ZodMiniObject;
  /** request headers, by the name that messages and documentation use */
  headers?: z.ZodMiniObject;
  /** the JSON body, integers read as bigint */
  body?: z.ZodMiniObject;
  success: {
    description: string;
    /** what its optional headers mean */
    headers?: Record<string, string>;
  } & ({ status: 200 | 201; body: z.ZodMiniType } | { status: 204; body?: never });
  /** the errors that do not follow from its other members (errorsOf) */
  errors?: readonly ErrorCode[];
  deprecation?: {
    /** when it became deprecated (RFC 9745) */
    since: Date;
    /** when it stops working (RFC 8594) */
    sunset: Date;
    /** path of the operation that replaces it */
    successor: string;
  };
}

/** Returns the scope that a key needs. Source: contract 6.3. */
export const scopeOf = ({ method }: Operation): Scope => (method === "GET" ? "pets:read" : "pets:write");

/** The errors of the function of every operation: it can fail, and it checks the scope. */
const ofEveryFunction: ErrorCode[] = ["forbidden", "internal_error", "unavailable"];

/** Returns the errors that the function of an operation has. Source: contract 7.2. */
export function errorsOf({ params, query, headers, body, deprecation, errors = [] }: Operation): ErrorCode[] {
  const causes: [cause: unknown, ErrorCode[]][] = [
    [query ?? headers ?? body, ["invalid_request"]],
    [body, ["payload_too_large", "unsupported_media_type"]],
    [params, ["not_found"]],
    [deprecation, ["gone"]],
  ];
  return [...ofEveryFunction, ...causes.flatMap(([cause, codes]) => (cause ? codes : [])), ...errors];
}
