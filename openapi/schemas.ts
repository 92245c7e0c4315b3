import * as z from "zod/mini";
import { type ErrorBody, errorBody, errors } from "../lib/errors.ts";
import { NewPet, Pet, PetStatus, Pets } from "../lib/pet.ts";
import { jsonSchemaHints } from "../lib/schema.ts";

/** A JSON Schema of the 2020-12 dialect, as OpenAPI 3.1 uses it. */
export type Schema = Record<string, unknown>;

const pet = { id: 114677519594330, name: "Rex", categoryId: 1, status: "available" };

/** The schemas that the document names, with what they mean and an example. */
const named = z.registry<{ id: string; description: string; examples: unknown[] }>();
named.add(PetStatus, { id: "PetStatus", description: "An animal's availability", examples: ["available"] });
named.add(NewPet, {
  id: "NewPet",
  description: "An animal to add; members that are not named here are ignored",
  examples: [{ name: pet.name, categoryId: pet.categoryId, status: pet.status }],
});
named.add(Pet, { id: "Pet", description: "An animal", examples: [pet] });
named.add(Pets, { id: "Pets", description: "Animals in ascending order of id", examples: [[pet]] });

const uri = (id: string) => `#/components/schemas/${id}`;

const options = (io: "input" | "output") =>
  ({
    io,
    metadata: named,
    uri,
    // Int64 is a bigint, which JSON Schema cannot say; its hint can.
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Schema }) => {
      Object.assign(jsonSchema, jsonSchemaHints.get(zodSchema as z.ZodMiniType));
      const { def } = zodSchema._zod;
      if (def.type === "default") jsonSchema.default ??= (def as z.core.$ZodDefaultDef).defaultValue;
      // An answer may get more members some day; clients must not refuse them.
      delete jsonSchema.additionalProperties;
    },
  }) as const;

/** Without what only a document of its own needs; what is named is in the components. */
function bare({ $schema, $id, id, $defs, "~standard": _, ...schema }: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', `"${uri("")}`));
}

/**
 * The JSON Schema of what a client sends.
 *
 * @param schema of the object, such as an operation's query
 * @returns the schema of every member, and which must be there
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
 * A body as the document shows it.
 *
 * @param schema a named one is referred to; any other is written out
 */
export function bodySchema(schema: z.ZodMiniType, io: "input" | "output"): Schema {
  const id = named.get(schema)?.id;
  return id ? { $ref: uri(id) } : bare(z.toJSONSchema(schema, options(io)) as Schema);
}

/** The example of a body, where its schema has a name. */
export const bodyExample = (schema: z.ZodMiniType) => named.get(schema)?.examples[0];

const errorSchema = {
  type: "object",
  description: "The body of every error",
  properties: {
    code: { type: "string", enum: Object.keys(errors), description: "Which error it is; the set is closed" },
    message: { type: "string", description: "For people, and no part of the contract" },
    status: { type: "integer", format: "int32", description: "The HTTP status" },
  },
  required: ["code", "message", "status"] satisfies (keyof ErrorBody)[],
  examples: [errorBody("not_found")],
};

/** Every named schema: what is sent (NewPet) as clients send it, the others as they are answered. */
export function componentSchemas(): Record<string, Schema> {
  const { schemas } = z.toJSONSchema(named, options("output"));
  const { schemas: sent } = z.toJSONSchema(named, options("input"));
  const all = { ...schemas, NewPet: sent.NewPet };
  return {
    ...Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, bare(schema as Schema)])),
    Error: errorSchema,
  };
}
