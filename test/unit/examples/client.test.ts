import { afterEach, expect, it, jest } from "@jest/globals";
import type * as z from "zod/mini";
import * as client from "../../../examples/client.ts";
import type { ErrorCode } from "../../../lib/errors.ts";
import { INT64_MAX } from "../../../lib/int64.ts";
import type { listPets } from "../../../lib/operations.ts";
import type { NewPet, Pet, PetStatus } from "../../../lib/pet.ts";
import { openApiDocument } from "../../../openapi/document.ts";

// The client has types of its own, so that it is one file. They are those from which openapi.json is generated.

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** The members that only one of the types has, or that have another type or are optional in only one. */
type Difference<A, B> = {
  [K in keyof A | keyof B]: Same<Pick<A, K & keyof A>, Pick<B, K & keyof B>> extends true ? never : K;
}[keyof A | keyof B];

/** The compiler reports an error that names the members in which the types differ. */
function expectSame<A, B>(_none: Record<Difference<A, B>, never>): void {}

expectSame<client.Pet, Pet>({});
expectSame<client.NewPet, z.input<typeof NewPet>>({});
expectSame<client.PetFilter, Partial<Omit<z.output<typeof listPets.query>, "cursor">>>({});
expectSame<Record<client.PetStatus, 1>, Record<PetStatus, 1>>({});
expectSame<Record<client.ErrorCode, 1>, Record<ErrorCode, 1>>({});

afterEach(() => {
  jest.restoreAllMocks();
});

/** A client of a service that returns one response after the other. */
function storeWith(...responses: Response[]) {
  const requests: { url: string; body: unknown }[] = [];
  const fetch: client.ClientOptions["fetch"] = async (url, init) => {
    requests.push({ url: String(url), body: init?.body });
    return responses[requests.length - 1] ?? Response.error();
  };
  return { store: client.petStore({ baseUrl: "http://localhost/v1", apiKey: "key", fetch }), requests };
}

it("reads as bigint the members that openapi.json describes as int64, and no others", async () => {
  const { properties } = openApiDocument().components.schemas.Pet as {
    properties: Record<string, { format?: string }>;
  };
  const json = `{${Object.keys(properties).map((name) => `"${name}":${INT64_MAX}`)}}`;
  const { store } = storeWith(new Response(json, { status: 201 }));

  const members = Object.entries(await store.add({ name: "Rex", categoryId: 1n }));
  const exact = members.filter(([, value]) => value === INT64_MAX).map(([name]) => name);
  const int64 = Object.keys(properties).filter((name) => properties[name]?.format === "int64");
  expect(exact).toEqual(int64);
});

it("reads JSON with spaces and negative integers", async () => {
  const { store } = storeWith(
    new Response('{ "id" : 1,\n"name": "Rex", "categoryId" :\n-9223372036854775808 }'),
  );
  const pet = await store.add({ name: "Rex", categoryId: 1n });
  expect(pet).toEqual({ id: 1n, name: "Rex", categoryId: -(2n ** 63n) });
});

it("sends no member that is undefined", async () => {
  const { store, requests } = storeWith(new Response("{}"));
  await store.add({ name: "Rex", categoryId: 1n, status: undefined } as never);
  expect(requests[0]?.body).toBe('{"name":"Rex","categoryId":1}');
});

it("follows only the next link, when it needs it, and never to another host", async () => {
  const links =
    '<http://other/v1/pets?cursor=a>; rel="prev", <http://other/v1/pets?limit=2&cursor=b>; rel="next"';
  const page = (id: number) => `[{"id":${id}},{"id":${id + 1}}]`;
  const { store, requests } = storeWith(
    new Response(page(1), { headers: { Link: links } }),
    new Response(page(3), { headers: { Link: '<http://other/v1/pets?cursor=c>; rel="prev"' } }),
  );
  const pets = store.list({ limit: 2, status: "sold" });
  const urls = [];
  for await (const { id } of pets) urls.push([id, requests.at(-1)?.url]);
  const [first, second] = ["?limit=2&status=sold", "?limit=2&cursor=b"].map(
    (query) => `http://localhost/v1/pets${query}`,
  );
  expect(urls).toEqual([
    [1n, first],
    [2n, first],
    [3n, second],
    [4n, second],
  ]);
});

it("pauses and ends by the time of the system", async () => {
  let now = Date.now();
  const end = now + 60_000;
  jest.spyOn(Date, "now").mockImplementation(() => now);
  jest.spyOn(Math, "random").mockReturnValue(0);
  const wait = (act: () => void, milliseconds = 0) => {
    now += milliseconds;
    act();
  };
  jest.spyOn(globalThis, "setTimeout").mockImplementation(wait as never);
  const busy = () => new Response("{}", { status: 503, headers: { "Retry-After": "25" } });
  const { store, requests } = storeWith(busy(), busy(), busy(), busy());
  const error = { name: "PetStoreError", status: 503 };
  await expect(store.list().next()).rejects.toMatchObject(error);
  expect([requests.length, end - now]).toEqual([3, 10_000]);
});

it.each([
  ["URL", { baseUrl: "localhost/v1" }],
  ["key", { apiKey: "a\nb" }],
])("does not retry with an invalid %s", async (_what, options) => {
  const clock = { now: () => 0, sleep: () => Promise.reject(new Error("It paused.")) };
  const store = client.petStore({ baseUrl: "http://localhost/v1", apiKey: "key", clock, ...options });
  await expect(store.list().next()).rejects.toThrow(/invalid/i);
});

it.each(["null", "[]", "1", "<html>", ""])(
  "reports a response of a proxy by its status: %j",
  async (body) => {
    const { store } = storeWith(new Response(body, { status: 404 }));
    const error = { message: "The response has status 404.", code: undefined, requestId: undefined };
    await expect(store.list().next()).rejects.toMatchObject(error);
  },
);
