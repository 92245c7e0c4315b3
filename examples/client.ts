import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, operations, paths } from "./api.d.ts";

// A typed client of the API, to copy from. It runs with
//   BASE_URL=http://localhost:3000/v1 API_KEY=ask_local_... node examples/client.ts

export type NewPet = components["schemas"]["NewPet"];
export type Pet = components["schemas"]["Pet"];
export type PetFilter = Omit<NonNullable<operations["listPets"]["parameters"]["query"]>, "cursor">;

const ATTEMPTS = 5;
/** No answer of this API asks for more, in seconds. */
const LONGEST_WAIT = 60;

/** An error that the API answered with; decide by its code. */
export class PetStoreError extends Error {
  readonly code: components["schemas"]["Error"]["code"];
  constructor({ code, message }: components["schemas"]["Error"]) {
    super(message);
    this.name = "PetStoreError";
    this.code = code;
  }
}

/** Sends a request, and sends it again when the service asks for it. A copy goes out, for a body is read once. */
async function fetchWithRetries(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(request.clone());
    const wait = Number(response.headers.get("retry-after") ?? 1);
    const again = response.status === 429 || response.status === 503;
    if (!again || attempt === ATTEMPTS || !(wait <= LONGEST_WAIT)) return response;
    await response.body?.cancel();
    await sleep(wait * 1000);
  }
}

/** The query of the next page's address (RFC 8288), if there is one. */
function nextQuery(response: Response): string | undefined {
  const link = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  return link && new URL(link).searchParams.toString();
}

/**
 * Makes a client of one deployment.
 *
 * @param baseUrl ends in /v1
 * @param apiKey with the scopes of the operations it is used for
 * @returns its methods; each throws PetStoreError for what the API refuses
 */
export function petStore(baseUrl: string, apiKey: string) {
  const client = createClient<paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${apiKey}` },
    fetch: fetchWithRetries,
  });

  return {
    /** Adds an animal once, however often the request has to be sent. */
    async add(pet: NewPet): Promise<Pet> {
      const { data, error } = await client.POST("/pets", {
        body: pet,
        headers: { "Idempotency-Key": randomUUID() },
      });
      if (error) throw new PetStoreError(error);
      return data;
    },

    /** Walks through all animals, page by page, while they are asked for. */
    async *list(filter: PetFilter = {}): AsyncGenerator<Pet> {
      let next: string | undefined;
      do {
        const query = next;
        const { data, error, response } = await client.GET("/pets", {
          params: { query: filter },
          // The link's own query, as it is: only its address says how to go on.
          ...(query && { querySerializer: () => query }),
        });
        if (error) throw new PetStoreError(error);
        yield* data;
        next = nextQuery(response);
      } while (next);
    },
  };
}

if (import.meta.main) {
  const { BASE_URL, API_KEY } = process.env;
  if (!BASE_URL || !API_KEY) throw new Error("Set BASE_URL and API_KEY to what `npm start` prints.");
  const store = petStore(BASE_URL, API_KEY);
  for (const name of ["Rex", "Tom", "Polly"]) {
    const pet = await store.add({ name, categoryId: 1 });
    console.log(`Added ${pet.name} as ${pet.id}.`);
  }
  for await (const { id, name, status } of store.list({ limit: 100 }))
    console.log(`${id} ${name} (${status})`);
}
