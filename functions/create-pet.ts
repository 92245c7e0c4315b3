import { petStore } from "../lib/dynamo/pet-store.ts";
import { env } from "../lib/env.ts";
import { handle } from "../lib/http/handle.ts";
import { createPet } from "../lib/operations.ts";

const store = petStore(env.petsTable);

/** POST /pets */
export const handler = handle(createPet, async ({ body }) => ({ body: await store.create(body) }));
