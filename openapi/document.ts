import { createRequire } from "node:module";
import { type ErrorCode, errorBody, errorHeaders, errors } from "../lib/errors.ts";
import { API_VERSION, type Operation, operations } from "../lib/operations.ts";
import { bodyExample, bodySchema, componentSchemas, inputMembers, type Schema } from "./schemas.ts";

/** The errors that every operation can answer. */
const COMMON: ErrorCode[] = [
  "unauthorized",
  "forbidden",
  "too_many_requests",
  "internal_error",
  "unavailable",
  "timeout",
];
/** Those that the gateway answers before or in place of the function, so without the function's headers. */
const BY_GATEWAY: ErrorCode[] = ["unauthorized", "too_many_requests", "timeout"];
/** Those that come from either. */
const BY_BOTH: ErrorCode[] = ["internal_error", "unavailable"];

const json = (schema: Schema, example: unknown) => ({
  "application/json": { schema, ...(example === undefined ? {} : { example }) },
});

const header = (description: string, required: boolean, example?: string | number) => ({
  description,
  required,
  schema: { type: typeof example === "number" ? "integer" : "string" },
  ...(example === undefined ? {} : { example }),
});

/** No `headers` at all where there are none. */
const headersOf = (headers: object) => (Object.keys(headers).length > 0 ? { headers } : {});

/** What a deprecated operation's function says in each of its answers (RFC 9745, 8594, 5829). */
function deprecationHeaders({ deprecation }: Operation, required: boolean) {
  if (!deprecation) return {};
  const { since, sunset } = deprecation;
  return {
    Deprecation: header("Since when the operation is deprecated", required, `@${since.getTime() / 1000}`),
    Sunset: header("When the operation stops working", required, sunset.toUTCString()),
    Link: header('The address of its successor, with rel="successor-version"', required),
  };
}

function errorResponse(operation: Operation, code: ErrorCode) {
  const { "Retry-After": wait, "WWW-Authenticate": scheme } = errorHeaders(code);
  return {
    description: errors[code].message,
    ...headersOf({
      ...(BY_GATEWAY.includes(code) ? {} : deprecationHeaders(operation, !BY_BOTH.includes(code))),
      ...(wait && { "Retry-After": header("Seconds to wait (RFC 9110, 10.2.3)", true, Number(wait)) }),
      ...(scheme && { "WWW-Authenticate": header("How to authenticate (RFC 6750)", true, scheme) }),
    }),
    content: json({ $ref: "#/components/schemas/Error" }, errorBody(code)),
  };
}

function responses(operation: Operation) {
  const { status, description, body, headers = {} } = operation.success;
  const codes = [...new Set([...operation.errors, ...COMMON])];
  return {
    [status]: {
      description,
      ...headersOf({
        ...Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, header(text, false)])),
        ...deprecationHeaders(operation, true),
      }),
      content: json(bodySchema(body, "output"), bodyExample(body)),
    },
    ...Object.fromEntries(codes.map((code) => [errors[code].status, errorResponse(operation, code)])),
  };
}

function parameters(operation: Operation) {
  const { params, query, headers } = operation;
  const parts = { path: params, query, header: headers };
  return Object.entries(parts).flatMap(([place, members]) =>
    (members ? inputMembers(members) : []).map(({ name, required, schema }) => {
      const { description, ...rest } = schema;
      return { name, in: place, required, ...(description ? { description } : {}), schema: rest };
    }),
  );
}

/** An operation in words, as far as its description does not say it elsewhere. */
function describe({ scope, deprecation }: Operation): string {
  const date = (day: Date) => day.toISOString().slice(0, 10);
  return [
    `Needs a key with the scope \`${scope}\`.`,
    deprecation &&
      `Deprecated since ${date(deprecation.since)}: it stops working on ${date(deprecation.sunset)} and answers 410 from then on. Use \`GET ${deprecation.successor}\`.`,
  ]
    .filter(Boolean)
    .join(" ");
}

function operationObject(operation: Operation) {
  const { id, summary, path, body, deprecation } = operation;
  return {
    operationId: id,
    summary,
    description: describe(operation),
    tags: [path.split("/")[1]],
    ...(deprecation ? { deprecated: true } : {}),
    parameters: parameters(operation),
    ...(body
      ? { requestBody: { required: true, content: json(bodySchema(body, "input"), bodyExample(body)) } }
      : {}),
    responses: responses(operation),
    security: [{ apiKey: [] }],
  };
}

/**
 * Describes the API as clients see it, from the same data that routes and validates.
 * Source: OpenAPI 3.1.1. Errors of unknown paths (404) and methods (405) belong to no operation.
 *
 * @returns the document, ready for JSON
 */
export function openApiDocument() {
  const { version, license } = createRequire(import.meta.url)("../package.json");
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: operationObject(operation),
    };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "The Animal Store",
      version,
      description: "The animals in a store. Every error has the same body; decide by its `code`.",
      contact: { name: "The Animal Store" },
      license: { name: license, identifier: license },
    },
    servers: [
      {
        url: `https://{apiId}.execute-api.{region}.amazonaws.com/${API_VERSION}`,
        description: "Staging or production: the output BaseUrl of its stack",
        variables: {
          apiId: { default: "your-api-id", description: "The stage's own API" },
          region: { default: "us-east-1", description: "The AWS region it is deployed in" },
        },
      },
      { url: `http://localhost:3000/${API_VERSION}`, description: "On your machine: npm start" },
    ],
    tags: [{ name: "pets", description: "Animals" }],
    paths,
    components: {
      schemas: componentSchemas(),
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key: `Bearer <API_KEY>`" },
      },
    },
  };
}

/** The document as it stands in openapi.json. */
export const openApiText = () => `${JSON.stringify(openApiDocument(), null, 2)}\n`;
