import * as z from "zod/mini";
import { type ErrorBody, errorBody, errors } from "../lib/errors.ts";
import { exampleOf } from "./example-values.ts";

/** A JSON Schema of the 2020-12 dialect, as OpenAPI 3.1 uses it. */
export type Schema = Record<string, unknown>;

const REFERENCE = "#/components/schemas/";

/** Adds what zod leaves out. */
function complete({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Schema }): void {
  const { id, examples } = z.globalRegistry.get(zodSchema) ?? {};
  if (id) jsonSchema.examples = [exampleOf(zodSchema, id)];
  if (zodSchema instanceof z.ZodMiniCodec) jsonSchema.examples = examples; // of the text, not of the value
  if (!(zodSchema instanceof z.ZodMiniDefault)) return;
  const { defaultValue } = zodSchema.def;
  jsonSchema.default = defaultValue;
  if (!jsonSchema.$ref) return;
  // With the keyword next to `$ref`, some client generators ignore the default and others make the member required.
  delete jsonSchema.default;
  jsonSchema.description = `${jsonSchema.description}. Default: \`${defaultValue}\``;
}

/** What clients send. A response is the same, because its schema has no defaults. */
const options = {
  io: "input",
  unrepresentable: "any", // JSON Schema cannot describe a bigint. The metadata of Int64 does.
  override: complete,
} as const;

/**
 * Describes what a client sends, such as the query of an operation.
 *
 * @returns the JSON Schema of every parameter, and whether it is required
 */
export function inputMembers(part: z.ZodMiniObject) {
  const text = JSON.stringify(z.toJSONSchema(part, options));
  // The document has the schemas to which a part refers.
  const { properties = {}, required = [] } = JSON.parse(text.replaceAll("#/$defs/", REFERENCE));
  return Object.entries<Schema>(properties).map(([name, schema]) => ({
    name,
    required: required.includes(name),
    schema,
  }));
}

/**
 * Describes a body, as a Media Type Object (OpenAPI 3.1.1, 4.8.14): a reference to its schema, and an example.
 *
 * @throws Error if the schema has no name
 */
export function bodyContent(schema: z.ZodMiniType) {
  const { id } = z.globalRegistry.get(schema) ?? {};
  if (!id)
    throw new Error("The schema of a body needs a name: .register(z.globalRegistry, { id, description }).");
  return { schema: { $ref: REFERENCE + id }, example: exampleOf(schema) };
}

const errorSchema = {
  type: "object",
  description: "The body of every error",
  properties: {
    code: { type: "string", enum: Object.keys(errors), description: "The kind of error, from a closed set" },
    message: { type: "string", maxLength: 1024, description: "For people. Its text can change" },
    status: { type: "integer", format: "int32", description: "The HTTP status code" },
  },
  required: ["code", "message", "status"] satisfies (keyof ErrorBody)[],
  examples: [errorBody("not_found")],
};

/** Every schema with a name. */
export function componentSchemas(): Record<string, Schema> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { ...options, uri: (id) => REFERENCE + id });
  // Both belong to a separate JSON Schema document.
  const bare = Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema]);
  return { ...Object.fromEntries(bare), Error: errorSchema };
}
