import * as z from "zod/mini";
import { Cursor } from "../cursor.ts";
import { PAGE_SIZE } from "../limits.ts";
import type { Operation } from "../operation.ts";
import { PageSize } from "../page-size.ts";
import { PetStatus, Pets } from "../pet.ts";

/** Source: contract 3. */
export const listPets = {
  id: "listPets",
  method: "GET",
  path: "/pets",
  summary: "List all animals",
  query: z.object({
    limit: z._default(PageSize, PAGE_SIZE.default),
    status: z.optional(PetStatus).check(z.describe("Only animals with this status")),
    cursor: z.optional(Cursor),
  }),
  success: {
    status: 200,
    description: "A page of animals in order of their creation",
    body: Pets,
    headers: { Link: 'URL of the next page with rel="next" (RFC 8288). The last page has none' },
  },
} as const satisfies Operation;
