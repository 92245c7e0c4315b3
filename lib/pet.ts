import * as z from "zod/mini";
import { Int64 } from "./int64.ts";
import { NAME_LIMIT, PAGE_SIZE } from "./limits.ts";
import { jsonSchemaHints, must } from "./validation.ts";

const statuses = ["available", "pending", "sold"] as const;

/** A pet's availability. Source: contract 2.1. */
export const PetStatus = z.enum(statuses, must(`be one of ${statuses.join(", ")}`));
export type PetStatus = z.output<typeof PetStatus>;

const isName = (name: string) => {
  // A lone surrogate could not be stored as UTF-8.
  const length = [...name].length;
  return length >= 1 && length <= NAME_LIMIT && name.isWellFormed();
};

const nameRule = must(`be a string of 1 to ${NAME_LIMIT} characters of well-formed Unicode`);

interface Member {
  schema: z.ZodMiniType;
  /** for the documentation */
  description: string;
  /** a value as JSON */
  example: unknown;
}

/**
 * The members of a pet that clients send. Validation, what is stored and returned, what a retry must repeat, and the
 * documentation all follow from them. Source: contract 2.2.
 */
const newPetMembers = {
  name: {
    schema: z
      .string(nameRule)
      .check(z.refine(isName, nameRule))
      .register(jsonSchemaHints, { minLength: 1, maxLength: NAME_LIMIT }),
    description: "Name of the animal",
    example: "Rex",
  },
  categoryId: {
    schema: Int64,
    description:
      "Id of the category that the animal belongs to: any 64-bit integer, returned digit for digit",
    example: 1,
  },
  status: {
    schema: z._default(PetStatus, "available"),
    description: "Availability of the animal",
    example: "available",
  },
} satisfies Record<string, Member>;

/** All members of a pet, by name. Source: contract 2.3. */
export const petMembers = {
  id: {
    schema: Int64,
    description: "Id of the animal, assigned by the service: at most 2^53 - 1",
    example: 114677519594330,
  },
  ...newPetMembers,
} satisfies Record<string, Member>;

type Schemas<M extends Record<string, Member>> = { [Name in keyof M]: M[Name]["schema"] };
/** A member with a default is always present in what the service returns. */
type WithoutDefaults<S> = {
  [Name in keyof S]: S[Name] extends z.ZodMiniDefault<infer Inner> ? Inner : S[Name];
};

const schemasOf = <M extends Record<string, Member>>(members: M) =>
  Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema])) as Schemas<M>;

const withoutDefaults = <S extends Record<string, z.ZodMiniType>>(schemas: S) =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      schema instanceof z.ZodMiniDefault ? schema.def.innerType : schema,
    ]),
  ) as WithoutDefaults<S>;

/** The body that adds a pet. Unknown members are ignored. Source: contract 2.2 and 4.3. */
export const NewPet = z.object(schemasOf(newPetMembers), must("be a JSON object"));
export type NewPet = z.output<typeof NewPet>;

/** A pet as clients see it. Source: contract 2.3. */
export const Pet = z.object(withoutDefaults(schemasOf(petMembers)));
export type Pet = z.output<typeof Pet>;

/**
 * Returns the members by which a retry is recognized: those whose value is not the default, sorted by name. So a new
 * optional member does not change the fingerprint of requests without it.
 */
export function nonDefaultMembers(pet: NewPet): [name: string, value: unknown][] {
  return Object.entries<z.ZodMiniType>(NewPet.shape)
    .map(([name, schema]) => {
      const value = pet[name as keyof NewPet];
      const isDefault = schema instanceof z.ZodMiniDefault && schema.def.defaultValue === value;
      return [name, isDefault ? undefined : value] as [string, unknown];
    })
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

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

// What the functions need of a store. On a failure, each method throws ApiError: `unavailable` when a retry can succeed
// or the signal aborts, otherwise `internal_error`.

interface Store {
  /** Reads something small with the client of the other method, for the warm-up. */
  ping(signal: AbortSignal): Promise<unknown>;
}

export interface PetLister extends Store {
  /** Lists a page of pets. A new pet can take a moment to appear. */
  list(query: PetQuery, signal?: AbortSignal): Promise<PetPage>;
}

export interface PetFinder extends Store {
  /** Returns the pet with this id as last written, or undefined. */
  find(id: bigint, signal?: AbortSignal): Promise<Pet | undefined>;
}

export interface PetCreator extends Store {
  /**
   * Adds a pet and returns it with its id. Calls with the same token return the same pet for 24 hours; with another
   * pet they throw ApiError `idempotency_mismatch`.
   */
  create(pet: NewPet, token?: IdempotencyToken, signal?: AbortSignal): Promise<Pet>;
}
