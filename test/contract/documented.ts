import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

/** What of an HTTP response the document speaks of. */
export interface Answer {
  status: number;
  headers: Headers;
  /** undefined where there is none, as for HEAD */
  body: unknown;
}

interface HeaderObject {
  required: boolean;
  schema: { type: string };
}
interface Documented {
  responses: Record<string, { headers?: Record<string, HeaderObject> }>;
}

// A member that no schema names is one that clients were not told of.
const closed = (_key: string, value: Record<string, unknown>) =>
  value?.type === "object" && value.properties ? { ...value, additionalProperties: false } : value;

const text = readFileSync(new URL("../../openapi.json", import.meta.url), "utf8");
const paths: Record<string, Record<string, Documented>> = JSON.parse(text).paths;
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(JSON.parse(text, closed), "openapi.json");

const pointer = (...parts: string[]) =>
  parts.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");

/** What is wrong with a body, if anything. */
function faults(schema: string, body: unknown): string[] {
  const $ref = `openapi.json#/${schema}`;
  const validate = ajv.getSchema($ref) ?? ajv.compile({ $ref });
  return validate(body) ? [] : [`its body: ${ajv.errorsText(validate.errors)}`];
}

/** The path of the document that an address is one of. */
function templateOf(path: string): string | undefined {
  return Object.keys(paths).find((template) => {
    const pattern = template.replaceAll(/\{\w+\}/g, "[^/]+");
    return new RegExp(`^${pattern}/?$`).test(path);
  });
}

/**
 * Compares a response with what the document says of it: a status that is listed, the headers that are
 * promised, and a body of the schema. What belongs to no operation is the gateway's, and must be an Error.
 *
 * @param path below the base address, without a query
 * @returns what differs, in words; nothing when the document covers the response
 */
export function undocumented(method: string, path: string, { status, headers, body }: Answer): string[] {
  const template = templateOf(path) ?? "";
  const verb = method.toLowerCase();
  const operation = paths[template]?.[verb];
  if (!operation) {
    if (status < 400) return [`${method} ${path} is no operation, and answers ${status}`];
    return body === undefined ? [] : faults("components/schemas/Error", body);
  }

  const response = operation.responses[status];
  if (!response) return [`${method} ${template} has no ${status}`];
  const found = Object.entries(response.headers ?? {}).flatMap(([name, { required, schema }]) => {
    const value = headers.get(name);
    if (value === null) return required ? [`no header ${name}`] : [];
    return schema.type === "integer" && !/^\d+$/.test(value) ? [`${name} is no integer`] : [];
  });
  const at = pointer(
    "paths",
    template,
    verb,
    "responses",
    String(status),
    "content",
    "application/json",
    "schema",
  );
  return [...found, ...faults(at, body)].map((fault) => `${method} ${template} ${status}: ${fault}`);
}
