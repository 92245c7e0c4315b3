import { describe, expect, it } from "@jest/globals";
import { creationOrder } from "../../lib/creation.ts";
import { encodeCursor } from "../../lib/cursor.ts";
import { NAME_LIMIT, PAGE_SIZE } from "../../lib/limits.ts";
import { getPet } from "../../lib/operations/get-pet.ts";
import { type Pet, PetStatus } from "../../lib/pet.ts";
import { eventually } from "../support/eventually.ts";
import { add, atOnce, call, followLinks, nextLink, post } from "./client.ts";

/** A cursor after the pets that were added until 20 seconds ago, by any clock. */
const recent = () => encodeCursor(creationOrder(Date.now() - 20_000));

describe("POST /pets", () => {
  it("adds a pet under an id that the service assigns, and returns it", async () => {
    const sent = '{"name":"Rex","categoryId":1,"status":"pending","id":1,"owner":"me"}';
    const { status, body } = await post(sent);
    const { id } = body as Pet;
    expect([status, body]).toEqual([201, { id, name: "Rex", categoryId: 1n, status: "pending" }]);
    expect(id).toBeGreaterThan(1n);
    expect(id).toBeLessThan(2n ** 53n);
  });

  it("returns every int64 and every name as it was sent", async () => {
    const categories = [9223372036854775807n, -9223372036854775808n, 9007199254740993n, 0n];
    const odd = [
      "x",
      " ",
      "🐕".repeat(NAME_LIMIT),
      " \u0000\u202e\u2028",
      '"}<b>&',
      "é e\u0301",
      "__proto__",
    ];
    for (const pet of [
      ...categories.map((categoryId) => ({ name: "Rex", categoryId })),
      ...odd.map((name) => ({ name, categoryId: 1n })),
    ]) {
      const added = await add(pet);
      expect((await call(`/pets/${added.id}`)).body).toEqual(added);
    }
  });

  it.each([
    ["1e3", 1000n],
    ["1000.0", 1000n],
    ["-9.223372036854775808E+18", -9223372036854775808n],
  ])("reads the category %s as the integer that it denotes", async (categoryId, integer) => {
    const { status, body } = await post(`{"name":"Rex","categoryId":${categoryId}}`);
    expect([status, (body as Pet).categoryId]).toEqual([201, integer]);
  });

  it("assigns different ids to pets that are added at once", async () => {
    const pets = await atOnce(20, (n) => add({ name: `At once ${n}`, categoryId: 1n }));
    expect(new Set(pets.map((pet) => pet.id)).size).toBe(20);
  });
});

describe("POST /pets with an Idempotency-Key", () => {
  const key = () => ({ "Idempotency-Key": crypto.randomUUID() });

  it("returns the first pet to the same request, byte for byte, in turn and at once", async () => {
    const headers = key();
    const body = '{"name":"Once","categoryId":9007199254740993}';
    const first = await post(body, headers);
    expect(first.status).toBe(201);
    const again = await atOnce(4, () => post(body, headers));
    // The same pet, written in another way.
    const other = '{"status":"available", "categoryId":9007199254740993.0,"x":1,"name":"Once"}';
    again.push(await post(other, headers));
    for (const { status, text } of again) expect([status, text]).toEqual([201, first.text]);
  });

  it("adds a pet for each of two keys that differ only in case", async () => {
    const rest = crypto.randomUUID();
    const send = (key: string) => post('{"name":"Case","categoryId":1}', { "Idempotency-Key": key });
    const [upper, lower] = [await send(`A${rest}`), await send(`a${rest}`)];
    expect([upper.status, lower.status]).toEqual([201, 201]);
    expect((upper.body as Pet).id).not.toBe((lower.body as Pet).id);
  });

  it("returns 422 to another body, and 400 to an invalid key", async () => {
    const headers = key();
    expect((await post('{"name":"Once","categoryId":1}', headers)).status).toBe(201);
    const other = await post('{"name":"Other","categoryId":1}', headers);
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_mismatch" } });
    for (const bad of ['"', "x".repeat(256)]) {
      const reply = await post('{"name":"Once","categoryId":1}', { "Idempotency-Key": bad });
      expect(reply).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    }
  });
});

describe("GET /pets", () => {
  it("returns as many pets as the limit says, or as its default says", async () => {
    const { default: size } = PAGE_SIZE;
    await atOnce(size + 1, () => add({ name: "Many", categoryId: 1n }));
    await eventually(
      () => call("/pets"),
      (reply) => {
        expect(reply.status).toBe(200);
        expect(reply.body).toHaveLength(size);
        expect(nextLink(reply)).toContain(`limit=${size}`);
      },
    );
    for (const limit of [1, size, size + 1])
      expect((await call(`/pets?limit=${limit}`)).body).toHaveLength(limit);
  });

  it("returns each pet exactly once through the links, with and without a status", async () => {
    // The store can hold any number of other pets.
    const start = `/pets?limit=7&cursor=${recent()}`;
    const added: Pet[] = [];
    for (let n = 0; n < 24; n++) {
      const status = PetStatus.options[n % PetStatus.options.length] ?? "";
      added.push(await add({ name: `Walk ${n}`, categoryId: BigInt(n), status }));
    }
    const mine = (pets: Pet[]) => pets.filter(({ id }) => added.some((pet) => pet.id === id));
    for (const status of [undefined, ...PetStatus.options]) {
      await eventually(
        () => followLinks(start + (status ? `&status=${status}` : "")),
        (pets) => {
          expect(mine(pets)).toEqual(added.filter((pet) => status === undefined || pet.status === status));
          expect(new Set(pets.map(({ id }) => id)).size).toBe(pets.length);
          if (status) expect(new Set(pets.map((pet) => pet.status))).toEqual(new Set([status]));
        },
      );
    }
  });

  it("has no link on the last page, even if it is full", async () => {
    const start = `/pets?limit=1&cursor=${recent()}`;
    const { id } = await add({ name: "Last", categoryId: 1n });
    await eventually(
      async () => {
        const pages: Pet[][] = [];
        for (let next: string | undefined = start; next; ) {
          const reply = await call(next);
          pages.push(reply.body as Pet[]);
          next = nextLink(reply);
        }
        return pages;
      },
      (pages) => {
        expect(pages.flat()).toContainEqual(expect.objectContaining({ id }));
        expect(pages.at(-1)).toHaveLength(1);
      },
    );
  });

  it("returns an empty page without a link after the last pet", async () => {
    const reply = await call(`/pets?cursor=${encodeCursor(2n ** 112n - 1n)}`);
    expect([reply.status, reply.text, nextLink(reply)]).toEqual([200, "[]", undefined]);
  });
});

describe("GET /pets/{petId}", () => {
  it("returns the new pet immediately, with the deprecation headers", async () => {
    const pet = await add({ name: "Rex", categoryId: 9007199254740993n, status: "sold" });
    const { status, headers, body } = await call(`/pets/${pet.id}`);
    expect([status, body]).toEqual([200, pet]);
    expect(headers.get("deprecation")).toBe(`@${getPet.deprecation.since.getTime() / 1000}`);
    expect(headers.get("sunset")).toBe(getPet.deprecation.sunset.toUTCString());
    expect(headers.get("link")).toMatch(/^<[^>]+\/v1\/pets>; rel="successor-version"$/);
  });

  it.each(["1", "-9223372036854775808", "9223372036854775808", "007", "1.0", "abc"])(
    "returns 404 for the id %s",
    async (id) => {
      expect(await call(`/pets/${id}`)).toMatchObject({ status: 404, body: { code: "not_found" } });
    },
  );
});
