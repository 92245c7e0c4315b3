import { petCreator } from "../lib/dynamo/pet-store.ts";
import { env } from "../lib/env.ts";
import { handle } from "../lib/http/handle.ts";
import { createPet } from "../lib/operations.ts";
import { warmUp } from "../lib/warm-up.ts";

const { create, touch } = petCreator({ pets: env.petsTable, claims: env.claimsTable }, env.statusShards);

export const ready = warmUp(touch);

/** POST /pets. With an `Idempotency-Key`, the same caller's retries are answered with the first animal. */
export const handler = handle(createPet, async ({ body, headers, caller }) => {
  const key = headers["Idempotency-Key"];
  return { body: await create(body, key === undefined ? undefined : { caller, key }) };
});
