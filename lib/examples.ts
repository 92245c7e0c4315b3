import * as z from "zod/mini";
import { type Pet, petMembers } from "./pet.ts";
import { jsonSchemaHints } from "./validation.ts";

/**
 * Returns an example of a value, as JSON: of an object with all its members, which have the examples of a pet's members or
 * those of their hints. The documentation, and requests that must be valid, are made from it.
 *
 * @param name for the error
 * @throws Error if a member has no example
 */
export function exampleOf(schema: z.core.$ZodType, name = "The schema"): unknown {
  const [hint] = jsonSchemaHints.get(schema as z.ZodMiniType)?.examples ?? [];
  if (hint !== undefined) return hint;
  if (schema instanceof z.ZodMiniEnum) return schema.options[0];
  if (schema instanceof z.ZodMiniArray) return [exampleOf(schema.def.element, name)];
  if (schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniDefault)
    return exampleOf(schema.def.innerType, name);
  if (schema instanceof z.ZodMiniObject)
    return Object.fromEntries(
      Object.entries(schema.shape as z.core.$ZodLooseShape).map(([member, own]) => [
        member,
        member in petMembers ? petMembers[member as keyof Pet].example : exampleOf(own, member),
      ]),
    );
  throw new Error(`${name} has no example: register one in jsonSchemaHints, next to its schema.`);
}
