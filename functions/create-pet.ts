import { petCreator } from "../lib/dynamo/pet-store.ts";
import { env } from "../lib/env.ts";
import { createHandler } from "../lib/http/handler.ts";
import { createPet } from "../lib/operations.ts";
import { warmUp } from "../lib/warm-up.ts";

const { create, ping } = petCreator({ pets: env.petsTable, claims: env.claimsTable }, env.statusShards);

export const ready = warmUp(ping);

/** POST /pets. Retries with the same `Idempotency-Key` return the first pet (contract 4.8). */
export const handler = createHandler(createPet, async ({ body, headers, caller, signal }) => {
  const key = headers["Idempotency-Key"];
  return { body: await create(body, key === undefined ? undefined : { caller, key }, signal) };
});
