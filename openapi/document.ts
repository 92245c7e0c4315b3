import { createRequire } from "node:module";
import { BODY_LIMIT, IDEMPOTENCY_HOURS, NAME_LIMIT, PAGE_SIZE } from "../lib/limits.ts";
import { API_VERSION, type Operation, scopeOf } from "../lib/operation.ts";
import { operations } from "../lib/operations.ts";
import { json, responses } from "./responses.ts";
import { bodyContent, componentSchemas, inputMembers } from "./schemas.ts";

function parameters({ params, query, headers }: Operation) {
  const parts = { path: params, query, header: headers };
  return Object.entries(parts).flatMap(([location, members]) =>
    (members ? inputMembers(members) : []).map(({ name, required, schema }) => {
      const { description, ...rest } = schema;
      return { name, in: location, required, ...(description ? { description } : {}), schema: rest };
    }),
  );
}

const isoDate = (day: Date) => day.toISOString().slice(0, 10);
const tagOf = ({ path }: Operation) => path.split("/")[1];

/** Describes the scope and the deprecation in words. */
function descriptionOf(operation: Operation): string {
  const { deprecation } = operation;
  const needed = `Requires an API key with the scope \`${scopeOf(operation)}\`.`;
  if (!deprecation) return needed;
  const { since, sunset, successor } = deprecation;
  return `${needed} Deprecated since ${isoDate(since)}. From ${isoDate(sunset)} on it returns 410. Use \`GET ${successor}\` instead.`;
}

function operationObject(operation: Operation) {
  const { id, summary, body, deprecation } = operation;
  return {
    operationId: id,
    summary,
    description: descriptionOf(operation),
    tags: [tagOf(operation)],
    // oasdiff reads x-sunset: an operation can be removed from that day on.
    ...(deprecation ? { deprecated: true, "x-sunset": isoDate(deprecation.sunset) } : {}),
    parameters: parameters(operation),
    ...(body ? { requestBody: { required: true, content: json(bodyContent(body)) } } : {}),
    responses: responses(operation),
    security: [{ apiKey: [] }],
  };
}

// Generators and tools use the first server by default, so the first is the local service, which anybody can start.
const servers = [
  { url: `http://127.0.0.1:3000/${API_VERSION}`, description: "Local" },
  {
    url: `https://{host}/${API_VERSION}`,
    description: "Deployed stage. The output BaseUrl of its stack has the host",
    variables: { host: { default: "api-id.execute-api.us-east-1.amazonaws.com" } },
  },
];

const apiKey = {
  type: "http",
  scheme: "bearer",
  description: "An API key: `Authorization: Bearer <API_KEY>`",
};

/** What applies to every operation, for readers of the document alone. Source: contract 2.5, 3.2, 3.4, 4.6 to 4.8, 6, 7. */
const description = `The animals of a store.

- **Authentication:** Send an API key with each request, as \`Authorization: Bearer <API_KEY>\`.
- **Pages:** A list returns up to \`limit\` animals, by default ${PAGE_SIZE.default}. While more follow, its \`Link\` header has the URL of the next page with \`rel="next"\`.
- **Retries:** Retry a 429, 500, 502, 503 or 504 after the seconds in \`Retry-After\`, if present, and a \`POST\` only with an \`Idempotency-Key\`, which the service remembers for at least ${IDEMPOTENCY_HOURS} hours. Never use one \`Idempotency-Key\` for two animals.
- **Limits:** A body has up to ${BODY_LIMIT / 1024} KiB, and a name up to ${NAME_LIMIT} characters; too many requests get a 429.
- **Errors:** Errors have the body \`Error\`, with few exceptions: check its \`code\`, because the text of its \`message\` can change.`;

/**
 * Describes the API as clients see it, from lib/operations.ts.
 * Source: OpenAPI 3.1.1.
 *
 * @returns the document, ready for JSON
 */
export function openApiDocument() {
  const { version, license, author } = createRequire(import.meta.url)("../package.json");
  const paths = [...Map.groupBy(operations, ({ path }) => path)].map(([path, same]) => [
    path,
    Object.fromEntries(same.map((operation) => [operation.method.toLowerCase(), operationObject(operation)])),
  ]);
  return {
    openapi: "3.1.1",
    info: {
      title: "The Animal Store",
      version,
      description,
      contact: { name: author },
      license: { name: license, identifier: license },
    },
    servers,
    tags: [...new Set(operations.map(tagOf))].map((name) => ({ name, description: `Requests to /${name}` })),
    paths: Object.fromEntries(paths),
    components: { schemas: componentSchemas(), securitySchemes: { apiKey } },
  };
}

/** The text of openapi.json. */
export const openApiText = () => `${JSON.stringify(openApiDocument(), null, 2)}\n`;
