import { petCreator } from "../lib/dynamo/pet-store.ts";
import { env } from "../lib/env.ts";
import { handle } from "../lib/http/handle.ts";
import { createPet } from "../lib/operations.ts";

const create = petCreator({ pets: env.petsTable, claims: env.claimsTable }, env.statusShards);

/** POST /pets. With an `Idempotency-Key`, the same caller's retries are answered with the first animal. */
export const handler = handle(createPet, async ({ body, headers, caller }) => {
  const key = headers["Idempotency-Key"];
  return { body: await create(body, key === undefined ? undefined : { caller, key }) };
});
