import type { PetQuery, petLister } from "../../lib/dynamo/pet-store.ts";
import type { Pet } from "../../lib/pet.ts";

/** Lists page after page until the last; returns all pets in order. */
export async function listAll({ list }: ReturnType<typeof petLister>, query: PetQuery): Promise<Pet[]> {
  const all: Pet[] = [];
  let { after } = query;
  for (let pages = 0; pages < 1000; pages++) {
    const { pets, next } = await list({ ...query, after });
    all.push(...pets);
    if (next === undefined) return all;
    after = next;
  }
  throw new Error("The list does not end.");
}

/**
 * Two Idempotency-Keys of the API key `key_test` whose creations have the same first id, 7890487259239735. A search through
 * about 2^27 keys found them.
 */
export const COLLIDING_KEYS = ["1ce42e92efcbb9", "03dc365ae9f833"] as const;
