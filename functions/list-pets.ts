import { encodeCursor } from "../lib/cursor.ts";
import { petLister } from "../lib/dynamo/pet-store.ts";
import { env } from "../lib/env.ts";
import { handle } from "../lib/http/handle.ts";
import { baseUrl } from "../lib/http/request.ts";
import { listPets } from "../lib/operations.ts";
import { warmUp } from "../lib/warm-up.ts";

const list = petLister(env.petsTable, env.statusShards);

// All statuses, since an unfiltered page sends a Query for each at once, over a connection of its own.
export const ready = warmUp(() => list({ limit: 1 }));

/** GET /pets. The link to the next page follows RFC 8288. */
export const handler = handle(listPets, async ({ query: { limit, status, cursor } }, event) => {
  const { pets, next } = await list({ limit, status, after: cursor });
  if (next === undefined) return { body: pets };

  const query = new URLSearchParams({
    limit: String(limit),
    ...(status && { status }),
    cursor: encodeCursor(next),
  });
  return { body: pets, headers: { Link: `<${baseUrl(event)}${listPets.path}?${query}>; rel="next"` } };
});
