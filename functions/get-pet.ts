import { petFinder } from "../lib/dynamo/pet-store.ts";
import { env } from "../lib/env.ts";
import { ApiError } from "../lib/errors.ts";
import { handle } from "../lib/http/handle.ts";
import { getPet } from "../lib/operations.ts";
import { warmUp } from "../lib/warm-up.ts";

const find = petFinder(env.petsTable);

export const warmedUp = warmUp((signal) => find(0n, signal));

/** GET /pets/{petId}, deprecated */
export const handler = handle(getPet, async ({ params }) => {
  const pet = await find(params.petId);
  if (!pet) throw new ApiError("not_found");
  return { body: pet };
});
