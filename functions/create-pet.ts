import { petCreator } from "../lib/dynamo/pet-store.ts";
import { env } from "../lib/env.ts";
import { createHandler } from "../lib/http/handler.ts";
import { createPet } from "../lib/operations/create-pet.ts";
import { warmUp } from "../lib/warm-up.ts";

const { create, ping } = petCreator(env("PETS_TABLE"));

export const ready = warmUp(ping);

/** POST /pets. Retries with the same `Idempotency-Key` return the first pet (contract 4.8). */
export const handler = createHandler(createPet, async ({ body, headers, keyId, signal }) => {
  const idempotencyKey = headers["Idempotency-Key"];
  const token = idempotencyKey === undefined ? undefined : { keyId, idempotencyKey };
  return { body: await create(body, token, signal) };
});
