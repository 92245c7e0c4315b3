import { type ErrorCode, errorBody, errorHeaders, errors } from "../lib/errors.ts";
import { gatewayErrors } from "../lib/gateway-errors.ts";
import { errorsOf, type Operation } from "../lib/operation.ts";
import { bodyContent, type Schema } from "./schemas.ts";

/** API Gateway sends these without the headers of a function. */
const byGateway = new Set(Object.keys(gatewayErrors) as ErrorCode[]);

/** The content of a JSON body, as the document describes it. */
export const json = (content: { schema: Schema; example?: unknown }) => ({ "application/json": content });

const errorReference = { $ref: "#/components/schemas/Error" };

/** @param options.required whether every such response has the header */
const header = (
  description: string,
  options: { required?: boolean; schema?: Schema; example?: string | number } = {},
) => ({ description, required: false, schema: { type: "string" }, ...options });

/** The headers of a deprecated operation's function (RFC 9745, 8594 and 5829). @param own the headers of its success */
function deprecationHeaders({ deprecation }: Operation, required: boolean, own: Record<string, string>) {
  if (!deprecation) return {};
  const link = 'URL of the successor with rel="successor-version" (RFC 5829)';
  const since = `@${deprecation.since.getTime() / 1000}`;
  const sunset = deprecation.sunset.toUTCString();
  return {
    Deprecation: header("When the operation became deprecated (RFC 9745)", { required, example: since }),
    Sunset: header("When the operation stops working (RFC 8594)", { required, example: sunset }),
    Link: header(own.Link ? `${own.Link}. ${link}` : link, { required }),
  };
}

/** The headers that a function adds to every response. */
const functionHeaders = (operation: Operation, required: boolean, own = {}) => ({
  "Cache-Control": header("Responses must not be cached", { required, example: "no-store" }),
  ...deprecationHeaders(operation, required, own),
});

/** API Gateway sends them. They are optional, because another gateway in front of the same functions can omit them. */
const requestIds = {
  "x-amzn-RequestId": header("Id of the request. A client can choose it, as a UUID in the same header"),
  "x-amz-apigw-id": header("Id of the request that nobody can choose. Include it in problem reports"),
};

function errorResponse(code: ErrorCode, headers: object) {
  const { "Retry-After": wait, "WWW-Authenticate": scheme } = errorHeaders(code);
  const schema = { type: "integer", format: "int32", minimum: 0, maximum: 60 };
  const seconds = { required: true, schema, example: Number(wait) };
  return {
    description: errors[code].message,
    headers: {
      ...headers,
      ...(wait && { "Retry-After": header("Seconds to wait before a retry (RFC 9110, 10.2.3)", seconds) }),
      ...(scheme && {
        "WWW-Authenticate": header("How to authenticate (RFC 6750)", { required: true, example: scheme }),
      }),
      ...requestIds,
    },
    content: json({ schema: errorReference, example: errorBody(code) }),
  };
}

/** Clients generated from the document can then read every error, such as the 405 of another method. */
const otherError = {
  description: "Any other error, such as the 404 of an unknown path or the 405 of an unknown method",
  headers: requestIds,
  content: json({ schema: errorReference }),
};

/**
 * Describes every response of an operation.
 *
 * @returns the Responses Object (OpenAPI 3.1.1, 4.8.16)
 */
export function responses(operation: Operation) {
  const { status, description, body, headers = {} } = operation.success;
  const byFunction = new Set(errorsOf(operation));
  const failures = [...byFunction.union(byGateway)].map((code) => {
    // Never required, also where only the function has the error: ogen generates Go that does not compile if they differ.
    const own = byFunction.has(code) ? functionHeaders(operation, false) : {};
    return [errors[code].status, errorResponse(code, own)];
  });
  const optional = Object.entries(headers).map(([name, text]) => [name, header(text)]);
  return {
    [status]: {
      description,
      headers: {
        ...Object.fromEntries(optional),
        ...functionHeaders(operation, true, headers),
        ...requestIds,
      },
      ...(body && { content: json(bodyContent(body)) }),
    },
    ...Object.fromEntries(failures),
    default: otherError,
  };
}
