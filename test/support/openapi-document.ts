import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

/** The parts of an HTTP response that the document describes. */
interface ResponseParts {
  status: number;
  headers: Headers;
  /** undefined when there is none, as for HEAD */
  body: unknown;
}

interface HeaderObject {
  required: boolean;
  schema: { type: string };
}
interface Documented {
  responses: Record<string, { headers?: Record<string, HeaderObject>; content?: object }>;
}

// A member that no schema names is undocumented.
const closed = (_key: string, value: Record<string, unknown>) =>
  value?.type === "object" && value.properties ? { ...value, additionalProperties: false } : value;

const text = readFileSync(new URL("../../openapi.json", import.meta.url), "utf8");
const paths: Record<string, Record<string, Documented>> = JSON.parse(text).paths;
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(JSON.parse(text, closed), "openapi.json");

/** Returns what is wrong with a body. */
function bodyFaults(schema: string, body: unknown): string[] {
  const $ref = `openapi.json#/${schema}`;
  const validate = ajv.getSchema($ref) ?? ajv.compile({ $ref });
  return validate(body) ? [] : [`its body: ${JSON.stringify(validate.errors)}`];
}

/** Returns the path template of the document that a path matches. */
function templateOf(path: string): string | undefined {
  return Object.keys(paths).find((template) => {
    const pattern = template.replaceAll(/\{\w+\}/g, "[^/]+");
    return new RegExp(`^${pattern}/?$`).test(path);
  });
}

/**
 * Compares a response with the document: the status must be listed, required headers present, and the body must match
 * its schema. A response that belongs to no operation comes from the gateway and must be an Error.
 *
 * @param path relative to the base URL, without a query
 * @returns the differences, in words
 */
export function differencesFromDocument(
  method: string,
  path: string,
  { status, headers, body }: ResponseParts,
): string[] {
  const template = templateOf(path) ?? "";
  const verb = method.toLowerCase();
  const operation = paths[template]?.[verb];
  if (!operation) {
    if (status < 400)
      return [`${status} for ${method} ${path}, which openapi.json does not have: run npm run generate`];
    return body === undefined ? [] : bodyFaults("components/schemas/Error", body);
  }

  const response = operation.responses[status];
  if (!response) return [`${method} ${template} has no ${status}`];
  const found = Object.entries(response.headers ?? {}).flatMap(([name, { required, schema }]) => {
    const value = headers.get(name);
    if (value === null) return required ? [`no header ${name}`] : [];
    const isValid = schema.type !== "integer" || (/^\d+$/.test(value) && ajv.validate(schema, Number(value)));
    return isValid ? [] : [`${name} is not valid`];
  });
  const schema = `${template.replaceAll("/", "~1")}/${verb}/responses/${status}/content/application~1json/schema`;
  const wrong = [...found, ...(response.content ? bodyFaults(`paths/${schema}`, body) : [])];
  return wrong.map((fault) => `${method} ${template} ${status}: ${fault}`);
}
