import * as z from "zod/mini";
import { Cursor } from "../cursor.ts";
import { PAGE_SIZE } from "../limits.ts";
import type { Operation } from "../operation.ts";
import { PetStatus, Pets } from "../pet.ts";
import { fromText, must } from "../validation.ts";

const { default: size, minimum, maximum } = PAGE_SIZE;

function parseLimit(text: string): number | undefined {
  const limit = /^[1-9]\d*$/.test(text) ? Number(text) : 0;
  return limit >= minimum && limit <= maximum ? limit : undefined;
}

const Limit = fromText(parseLimit, String, must(`be an integer from ${minimum} to ${maximum}`), {
  type: "integer",
  format: "int32",
  minimum,
  maximum,
  description: `Maximum number of animals to return, ${minimum} to ${maximum}`,
  examples: [size],
});

/** Source: contract 3. */
export const listPets = {
  id: "listPets",
  method: "GET",
  path: "/pets",
  summary: "List all animals",
  scope: "pets:read",
  query: z.object({
    limit: z._default(Limit, size),
    status: z.optional(PetStatus).check(z.describe("Only animals with this status")),
    cursor: z.optional(Cursor),
  }),
  success: {
    status: 200,
    description: "A page of animals in order of their creation",
    body: Pets,
    headers: { Link: 'URL of the next page with rel="next" (RFC 8288). The last page has none' },
  },
  errors: ["invalid_request"],
} as const satisfies Operation;
