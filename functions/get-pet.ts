import { petFinder } from "../lib/dynamo/pet-store.ts";
import { env } from "../lib/env.ts";
import { ApiError } from "../lib/errors.ts";
import { createHandler } from "../lib/http/handler.ts";
import { getPet } from "../lib/operations/get-pet.ts";
import { warmUp } from "../lib/warm-up.ts";

const { find } = petFinder(env("PETS_TABLE"));

export const ready = warmUp((signal) => find(0n, signal));

/** GET /pets/{petId}, deprecated */
export const handler = createHandler(getPet, async ({ params, signal }) => {
  const pet = await find(params.petId, signal);
  if (!pet) throw new ApiError("not_found");
  return { body: pet };
});
