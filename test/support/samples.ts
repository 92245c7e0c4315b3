import { INT64_MAX, INT64_MIN } from "../../lib/int64.ts";
import type { Operation } from "../../lib/operation.ts";
import { openApiDocument } from "../../openapi/document.ts";
import type { Json } from "./json.ts";

const { paths, components }: Json = openApiDocument();
const schemaOf = ({ $ref = "", ...own }: Json): Json => components.schemas[$ref.split("/").at(-1)] ?? own;

/** Values at both sides of the ends of what a schema allows, and of other types. */
function samplesOf(schema: Json): unknown[] {
  const { anyOf, enum: values, type, examples = [], minLength = 0, maxLength = 300, ...rest } = schema;
  if (anyOf) return anyOf.map(schemaOf).flatMap(samplesOf);
  const long = "\u{10ffff}".repeat(maxLength);
  const ends: Record<string, () => unknown[]> = {
    string: () => ["x".repeat(minLength), long, `${long}x`, ""],
    integer: () => [INT64_MIN, INT64_MAX, INT64_MAX + 1n, 0.5, "1"],
    number: () => [rest.minimum ?? -1, 0.5, 1e-200, "1"],
    boolean: () => [true, false, 0],
    array: () =>
      [0, 1, rest.maxItems ?? 2, 1 + (rest.maxItems ?? 2)].map((length) =>
        Array(length).fill(samplesOf(schemaOf(rest.items))[0]),
      ),
  };
  return [...new Set([...examples, ...(values ?? ends[type]?.() ?? []), null, {}])];
}

/** Returns the members of an operation's body, by their names, each with samples of its values. */
export function bodySamples({ method, path, body }: Operation): [name: string, values: unknown[]][] {
  if (!body) return [];
  const { schema } = paths[path][method.toLowerCase()].requestBody.content["application/json"];
  const members = Object.entries<Json>(schemaOf(schema).properties);
  return members.map(([name, one]) => [name, samplesOf(schemaOf(one))]);
}
