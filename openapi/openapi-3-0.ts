import { openApiDocument } from "./document.ts";

type Json = Record<string, unknown>;

/**
 * Converts the keywords that differ in OpenAPI 3.0: members next to `$ref` have no effect, a schema has one `example`, and
 * a licence has no SPDX identifier. Source: OpenAPI 3.0.4, 4.7.
 */
function rewrite(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewrite);
  if (!(value instanceof Object)) return value;
  const { $ref, examples, identifier: _, ...members } = value as Json;
  const rest = Object.fromEntries(Object.entries(members).map(([name, member]) => [name, rewrite(member)]));
  const example = Array.isArray(examples) ? { example: examples[0] } : {};
  if ($ref === undefined) return { ...rest, ...example };
  return Object.keys(rest).length > 0 ? { allOf: [{ $ref }], ...rest } : { $ref };
}

/** The document in OpenAPI 3.0, for generators that do not read 3.1. */
export const openApi30Document = () => ({ ...(rewrite(openApiDocument()) as Json), openapi: "3.0.4" });

/** The text of openapi-3.0.json, which the static site of the docs page has. */
export const openApi30Text = () => `${JSON.stringify(openApi30Document(), null, 2)}\n`;
