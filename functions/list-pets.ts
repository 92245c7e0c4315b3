import { petLister } from "../lib/dynamo/pet-store.ts";
import { env } from "../lib/env.ts";
import { createHandler } from "../lib/http/handler.ts";
import { listPets } from "../lib/operations/list-pets.ts";
import { warmUp } from "../lib/warm-up.ts";

const { list } = petLister(env("PETS_TABLE"));

export const ready = warmUp((signal) => list({ limit: 1 }, signal)); // a connection for each status

/** GET /pets. A page links to the next one (contract 3.4). */
export const handler = createHandler(listPets, async ({ query, linkHeader, signal }) => {
  const { limit, status, cursor } = query;
  const { pets, next } = await list({ limit, status, after: cursor }, signal);
  if (next === undefined) return { body: pets };
  return { body: pets, headers: { Link: linkHeader("next", listPets.path, { ...query, cursor: next }) } };
});
