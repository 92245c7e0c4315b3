// Uses the client that @hey-api/openapi-ts generates. Prints what it saw as JSON.
import { createClient, createConfig } from "./hey-api/client/index.ts";
import { createPet, getPet, listPets } from "./hey-api/index.ts";
import { nextCursor, parseInt64, toInt64 } from "./int64.ts";

type ExactPet = { id: bigint; categoryId: bigint };

const { BASE_URL: baseUrl = "", API_KEY = "", IDEMPOTENCY_KEY = "" } = process.env;
const connect = (auth: string) => createClient(createConfig({ baseUrl, auth }));
const client = connect(API_KEY);

const created = await createPet({
  client,
  headers: { "Idempotency-Key": IDEMPOTENCY_KEY },
  body: { name: "TypeScript", categoryId: toInt64(9223372036854775807n), status: "pending" },
  parseAs: "text",
});
const pet = parseInt64<ExactPet>(String(created.data));

let listed = 0;
let cursor: string | undefined;
do {
  const query = { limit: 2, status: "pending" as const, ...(cursor && { cursor }) };
  const { data, response } = await listPets({ client, query, parseAs: "text" });
  listed += parseInt64<ExactPet[]>(String(data)).filter(({ id }) => id === pet.id).length;
  if (!response) throw new Error("The list has no response.");
  cursor = nextCursor(response);
} while (cursor);

const path = { petId: Number(pet.id) }; // an id is at most 2^53 - 1
const got = await getPet({ client, path, parseAs: "text" });
const invalid = await createPet({ client, body: { name: "", categoryId: 1 } });
const unauthorized = await listPets({ client: connect("wrong") });
const missing = await getPet({ client, path: { petId: 1 } });

console.log(
  JSON.stringify({
    categoryId: String(pet.categoryId),
    listed,
    got: String(got.data) === String(created.data),
    errors: [invalid, unauthorized, missing].map(({ error }) => error?.code),
  }),
);
