import * as z from "zod/mini";
import { Int64 } from "./int64.ts";
import { must } from "./must.ts";
import { wireForms } from "./wire-form.ts";

/** An animal's availability. Source: SPEC 2 (PetStatus). */
export const PetStatus = z.enum(["available", "pending", "sold"], must("be one of available, pending, sold"));
export type PetStatus = z.output<typeof PetStatus>;

export const NAME_MAX = 256;

const isName = (name: string) => {
  // Code points, as JSON Schema counts them; a lone surrogate could not be stored as UTF-8.
  const length = [...name].length;
  return length >= 1 && length <= NAME_MAX && name.isWellFormed();
};

const name = must(`be a string of 1 to ${NAME_MAX} characters of well-formed Unicode`);

/** The body that adds an animal; members it does not name are ignored. Source: SPEC 2 (NewPet), SPEC 4.2. */
export const NewPet = z.object(
  {
    name: z
      .string(name)
      .check(z.refine(isName, name))
      .register(wireForms, { minLength: 1, maxLength: NAME_MAX }),
    categoryId: Int64,
    status: z._default(PetStatus, "available"),
  },
  must("be a JSON object"),
);
export type NewPet = z.output<typeof NewPet>;

/** An animal as clients see it. Source: SPEC 2 (Pet). */
export const Pet = z.object({
  id: Int64,
  name: z.string(),
  categoryId: Int64,
  status: PetStatus,
});
export type Pet = z.output<typeof Pet>;

/** Source: SPEC 2 (Pets). */
export const Pets = z.array(Pet);

/** Which animals a page of the list holds. */
export interface PetQuery {
  /** the most animals to return */
  limit: number;
  /** only animals with this status */
  status?: PetStatus | undefined;
  /** only animals whose id is above this one */
  after?: bigint | undefined;
}

/** A page of animals in ascending order of id. */
export interface PetPage {
  pets: Pet[];
  /** the position after which the next page starts; undefined on the last page */
  next: bigint | undefined;
}

/** A creation that must happen once, however often it is asked for. */
export interface Once {
  /** whose request it is: the same key of another caller is another creation */
  caller: string;
  /** the caller's Idempotency-Key */
  key: string;
}

// What the service asks of a store of animals. Each throws ApiError `unavailable` or `internal_error` when
// the store fails.

/** Lists a page of animals. A new animal may appear here a moment after it was added. */
export type ListPets = (query: PetQuery) => Promise<PetPage>;

/** Finds the animal with this id as last written, or undefined. */
export type FindPet = (id: bigint) => Promise<Pet | undefined>;

/**
 * Adds an animal under an id of its own. With `once`, the same creation gives the same animal for 24 hours,
 * and another animal under the same key throws ApiError `idempotency_mismatch`.
 */
export type CreatePet = (pet: NewPet, once?: Once) => Promise<Pet>;
