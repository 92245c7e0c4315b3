import * as z from "zod/mini";
import { Int64 } from "./int64.ts";
import { NAME_MAX, PAGE_SIZE } from "./limits.ts";
import { jsonSchemaHints, must } from "./schema.ts";

const statuses = ["available", "pending", "sold"] as const;

/** A pet's availability. Source: contract 2.1. */
export const PetStatus = z.enum(statuses, must(`be one of ${statuses.join(", ")}`));
export type PetStatus = z.output<typeof PetStatus>;

const isName = (name: string) => {
  // A lone surrogate could not be stored as UTF-8.
  const length = [...name].length;
  return length >= 1 && length <= NAME_MAX && name.isWellFormed();
};

const nameRule = must(`be a string of 1 to ${NAME_MAX} characters of well-formed Unicode`);

/** The body that adds a pet. Unknown members are ignored. Source: contract 2.2 and 4.3. */
export const NewPet = z.object(
  {
    name: z
      .string(nameRule)
      .check(z.refine(isName, nameRule))
      .register(jsonSchemaHints, { minLength: 1, maxLength: NAME_MAX }),
    categoryId: Int64,
    status: z._default(PetStatus, "available"),
  },
  must("be a JSON object"),
);
export type NewPet = z.output<typeof NewPet>;

/** A pet as clients see it. Source: contract 2.3. */
export const Pet = z.object({
  id: Int64,
  name: z.string(),
  categoryId: Int64,
  status: PetStatus,
});
export type Pet = z.output<typeof Pet>;

/** Source: contract 2.4. */
export const Pets = z.array(Pet).register(jsonSchemaHints, { maxItems: PAGE_SIZE.maximum });

/** Which pets a page of the list holds. */
export interface PetQuery {
  /** the maximum number of pets to return */
  limit: number;
  /** only pets with this status */
  status?: PetStatus | undefined;
  /** only pets whose id is greater */
  after?: bigint | undefined;
}

/** A page of pets in ascending order of id. */
export interface PetPage {
  pets: Pet[];
  /** the id after which the next page starts; undefined on the last page */
  next: bigint | undefined;
}

/** Identifies a creation, so that its retries add only one pet. */
export interface IdempotencyToken {
  /** id of the caller's API key: the same Idempotency-Key of another caller is another creation */
  caller: string;
  /** the caller's Idempotency-Key */
  key: string;
}

// What the functions need of a store. On a failure, each of these throws ApiError: `unavailable` when a retry can succeed
// or the signal aborts, otherwise `internal_error`.

/** Lists a page of pets. A new pet can take a moment to appear. */
export type ListPets = (query: PetQuery, signal?: AbortSignal) => Promise<PetPage>;

/** Returns the pet with this id as last written, or undefined. */
export type FindPet = (id: bigint, signal?: AbortSignal) => Promise<Pet | undefined>;

/**
 * Adds a pet and returns it with its id. Calls with the same token return the same pet for 24 hours; with another
 * pet they throw ApiError `idempotency_mismatch`.
 */
export type CreatePet = (pet: NewPet, token?: IdempotencyToken) => Promise<Pet>;
