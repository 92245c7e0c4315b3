import * as z from "zod/mini";
import { type ErrorBody, errorBody, errors } from "../lib/errors.ts";
import { exampleOf } from "../lib/examples.ts";
import { type Operation, operations } from "../lib/operations.ts";
import { NewPet, Pet, PetStatus, Pets, petMembers } from "../lib/pet.ts";
import { jsonSchemaHints } from "../lib/validation.ts";

/** A JSON Schema of the 2020-12 dialect, as OpenAPI 3.1 uses it. */
export type Schema = Record<string, unknown>;

/** The schemas that the document names, with a description and an example. */
const named = z.registry<{ id: string; description: string; examples: unknown[] }>();
const schemas: [id: string, schema: z.ZodMiniType, description: string][] = [
  ["PetStatus", PetStatus, "Availability of an animal"],
  ["NewPet", NewPet, "An animal to add. Other members are ignored"],
  ["Pet", Pet, "An animal"],
  ["Pets", Pets, "Animals in ascending order of id"],
];
for (const [id, schema, description] of schemas)
  named.add(schema, { id, description, examples: [exampleOf(schema, id)] });

/**
 * Adds the description of a pet's member to each member that has its name. The description also contains the default. With
 * the keyword `default` next to `$ref`, some client generators ignore the default and others make the member required.
 */
function describeMembers(schema: Schema): Schema {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const described = properties.map(([name, { default: value, ...member }]) => {
    const text = name in petMembers ? petMembers[name as keyof Pet].description : member.description;
    if (!text)
      throw new Error(`${name} has no description: register one in jsonSchemaHints, next to its schema.`);
    return [name, { ...member, description: value === undefined ? text : `${text}. Default: \`${value}\`` }];
  });
  return { ...schema, properties: Object.fromEntries(described) };
}

const uri = (id: string) => `#/components/schemas/${id}`;

const options = (io: "input" | "output") =>
  ({
    io,
    metadata: named,
    uri,
    // JSON Schema cannot describe a bigint. The hint of Int64 does.
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Schema }) => {
      Object.assign(jsonSchema, jsonSchemaHints.get(zodSchema as z.ZodMiniType));
      const { def } = zodSchema._zod;
      if (def.type === "default") jsonSchema.default ??= (def as z.core.$ZodDefaultDef).defaultValue;
      // A later version can add members to responses. Clients must not reject them.
      delete jsonSchema.additionalProperties;
    },
  }) as const;

/** Removes the members that only a separate JSON Schema document needs. Changes references to point to the components. */
function bare({ $schema, $id, ...schema }: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', `"${uri("")}`));
}

/**
 * Describes what a client sends, such as the query of an operation.
 *
 * @returns the JSON Schema of every member, and whether it is required
 */
export function inputMembers(schema: z.ZodMiniType) {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, options("input"));
  return Object.entries(properties).map(([name, member]) => ({
    name,
    required: required.includes(name),
    schema: bare(member as Schema),
  }));
}

/**
 * Describes a body, as a Media Type Object (OpenAPI 3.1.1, 4.8.14): a reference to its schema, and an example.
 *
 * @throws Error if the schema has no name
 */
export function bodyContent(schema: z.ZodMiniType) {
  const found = named.get(schema);
  if (!found) throw new Error("The schema of a body needs a name: add it to openapi/schemas.ts.");
  return { schema: { $ref: uri(found.id) }, example: found.examples[0] };
}

const errorSchema = {
  type: "object",
  description: "The body of every error",
  properties: {
    code: { type: "string", enum: Object.keys(errors), description: "The kind of error, from a closed set" },
    message: { type: "string", description: "For people. Not part of the contract" },
    status: { type: "integer", format: "int32", description: "The HTTP status code" },
  },
  required: ["code", "message", "status"] satisfies (keyof ErrorBody)[],
  examples: [errorBody("not_found")],
};

/** Every named schema: the body of a request as clients send it, the others as the service returns them. */
export function componentSchemas(): Record<string, Schema> {
  const returned = z.toJSONSchema(named, options("output")).schemas;
  const sent = z.toJSONSchema(named, options("input")).schemas;
  const bodies = (operations as readonly Operation[]).map(({ body }) => body && named.get(body)?.id);
  const described = Object.entries(returned).map(([id, schema]) => {
    const one = bare((bodies.includes(id) ? sent[id] : schema) as Schema);
    return [id, one.type === "object" ? describeMembers(one) : one];
  });
  return { ...Object.fromEntries(described), Error: errorSchema };
}
