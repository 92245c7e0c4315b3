import * as z from "zod/mini";
import type { Operation } from "../lib/operation.ts";

/**
 * Returns an example of a value, as JSON: the one that the schema registers, or an object with all its members. The
 * documentation, and requests that must be valid, are made from it.
 *
 * @param name for the error
 * @throws Error if a member has no example
 */
export function exampleOf(schema: z.core.$ZodType, name = "The schema"): unknown {
  const { examples } = z.globalRegistry.get(schema) ?? {};
  if (Array.isArray(examples)) return examples[0];
  if (schema instanceof z.ZodMiniEnum) return schema.options[0];
  if (schema instanceof z.ZodMiniArray) return [exampleOf(schema.def.element, name)];
  if (schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniDefault)
    return exampleOf(schema.def.innerType, name);
  if (schema instanceof z.ZodMiniObject)
    return Object.fromEntries(
      Object.entries(schema.shape as z.core.$ZodLooseShape).map(([member, own]) => [
        member,
        exampleOf(own, member),
      ]),
    );
  throw new Error(`${name} has no example: add .check(z.meta({ examples: [...] })) to its schema.`);
}

/** Returns the example of a request: each part with all its parameters as text, and the body as JSON. */
export function exampleRequest({ params, query, headers, body }: Operation) {
  const textsOf = (part?: z.ZodMiniObject): Record<string, string> =>
    Object.fromEntries(
      Object.entries(part ? (exampleOf(part) as object) : {}).map(([k, v]) => [k, String(v)]),
    );
  return {
    params: textsOf(params),
    query: textsOf(query),
    headers: textsOf(headers),
    body: body ? JSON.stringify(exampleOf(body)) : null,
  };
}
