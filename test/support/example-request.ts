import type * as z from "zod/mini";
import type { Operation } from "../../lib/operation.ts";
import { exampleOf } from "../../openapi/example-values.ts";

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
