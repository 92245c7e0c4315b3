// Uses openapi-fetch with the types that openapi-typescript generates. Prints what it saw as JSON.
import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";
import { nextCursor, parseInt64, toInt64 } from "./int64.ts";

type ExactPet = { id: bigint; categoryId: bigint };

const { BASE_URL: baseUrl = "", API_KEY = "", IDEMPOTENCY_KEY = "" } = process.env;
const client = (key: string) => createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const store = client(API_KEY);

const created = await store.POST("/pets", {
  params: { header: { "Idempotency-Key": IDEMPOTENCY_KEY } },
  body: { name: "TypeScript", categoryId: toInt64(9223372036854775807n), status: "pending" },
  parseAs: "text",
});
const pet = parseInt64<ExactPet>(String(created.data));

let listed = 0;
let cursor: string | undefined;
do {
  const query = { limit: 2, status: "pending" as const, ...(cursor && { cursor }) };
  const { data, response } = await store.GET("/pets", { params: { query }, parseAs: "text" });
  listed += parseInt64<ExactPet[]>(String(data)).filter(({ id }) => id === pet.id).length;
  cursor = nextCursor(response);
} while (cursor);

const path = { petId: Number(pet.id) }; // an id is at most 2^53 - 1
const got = await store.GET("/pets/{petId}", { params: { path }, parseAs: "text" });
const invalid = await store.POST("/pets", { body: { name: "", categoryId: 1 } });
const unauthorized = await client("wrong").GET("/pets");
const missing = await store.GET("/pets/{petId}", { params: { path: { petId: 1 } } });

console.log(
  JSON.stringify({
    categoryId: String(pet.categoryId),
    listed,
    got: String(got.data) === String(created.data),
    errors: [invalid, unauthorized, missing].map(({ error }) => error?.code),
  }),
);
