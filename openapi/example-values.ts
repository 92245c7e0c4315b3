import * as z from "zod/mini";

/**
 * Returns an example of a value, as JSON: the one that the schema registers, or an object with all its members. The
 * documentation, and the requests of tests, are made from it.
 *
 * @param name for the error
 * @throws Error if a member has no example
 */
export function exampleOf(schema: z.core.$ZodType, name = "The schema"): unknown {
  const { examples } = z.globalRegistry.get(schema) ?? {};
  if (Array.isArray(examples)) return examples[0];
  if (schema instanceof z.ZodMiniEnum) return schema.options[0];
  if (schema instanceof z.ZodMiniArray) return [exampleOf(schema.def.element, name)];
  if (schema instanceof z.ZodMiniUnion) return exampleOf(schema.def.options[0] as z.core.$ZodType, name);
  for (const wrapper of [z.ZodMiniOptional, z.ZodMiniNullable, z.ZodMiniDefault])
    if (schema instanceof wrapper) return exampleOf(schema.def.innerType, name);
  if (schema instanceof z.ZodMiniObject) {
    const members = Object.entries<z.core.$ZodType>(schema.shape);
    return Object.fromEntries(members.map(([member, own]) => [member, exampleOf(own, member)]));
  }
  throw new Error(`${name} has no example: add .check(z.meta({ examples: [...] })) to its schema.`);
}
