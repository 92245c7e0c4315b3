import { describe, expect, it } from "@jest/globals";
import { encodeCursor } from "../../../lib/cursor.ts";
import { type Pet, PetStatus } from "../../../lib/pet.ts";
import { eventually } from "../../support/eventually.ts";
import { add, atOnce, call, followLinks, nextLink, post } from "./client.ts";

describe("POST /pets", () => {
  it("adds a pet under an id that the service assigns, and returns it", async () => {
    const { status, body } = await post(
      '{"name":"Rex","categoryId":1,"status":"pending","id":1,"owner":"me"}',
    );
    expect(status).toBe(201);
    expect(body).toEqual({ id: expect.anything(), name: "Rex", categoryId: 1n, status: "pending" });
    expect((body as Pet).id).toBeGreaterThan(1n);
    expect((body as Pet).id).toBeLessThan(2n ** 53n);
  });

  it("makes a pet available when no status is given", async () => {
    expect((await add({ name: "Rex", categoryId: 1n })).status).toBe("available");
  });

  it("returns every int64 and every name as it was sent", async () => {
    for (const categoryId of [9223372036854775807n, -9223372036854775808n, 9007199254740993n, 0n]) {
      await add({ name: "Rex", categoryId });
    }
    for (const name of [
      "x",
      "🐕".repeat(256),
      " \u0000\u202e\u2028",
      '"}<script>&',
      "é",
      "e\u0301",
      "__proto__",
    ]) {
      await add({ name, categoryId: 1n });
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
    const pets = await atOnce(50, (n) => add({ name: `At once ${n}`, categoryId: 1n }));
    expect(new Set(pets.map((pet) => pet.id)).size).toBe(50);
  });
});

describe("POST /pets with an Idempotency-Key", () => {
  const key = () => ({ "Idempotency-Key": crypto.randomUUID() });

  it("returns the first pet to the same request, byte for byte, in turn and at once", async () => {
    const headers = key();
    const body = '{"name":"Once","categoryId":9007199254740993}';
    const first = await post(body, headers);
    expect(first.status).toBe(201);
    const again = await atOnce(10, () => post(body, headers));
    expect(new Set(again.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set([`201 ${first.text}`]),
    );
  });

  it("returns 422 to another body, and 400 to an invalid key", async () => {
    const headers = key();
    expect((await post('{"name":"Once","categoryId":1}', headers)).status).toBe(201);
    const other = await post('{"name":"Other","categoryId":1}', headers);
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_mismatch" } });
    for (const bad of ["", '"', "x".repeat(256)]) {
      const reply = await post('{"name":"Once","categoryId":1}', { "Idempotency-Key": bad });
      expect(reply).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    }
  });
});

describe("GET /pets", () => {
  it("returns at most 20 pets without a limit, and as many as the limit says", async () => {
    await atOnce(21, () => add({ name: "Many", categoryId: 1n }));
    await eventually(
      () => call("/pets"),
      (reply) => {
        expect(reply.status).toBe(200);
        expect(reply.body).toHaveLength(20);
        expect(nextLink(reply)).toContain("limit=20");
      },
    );
    for (const limit of [1, 20, 21]) expect((await call(`/pets?limit=${limit}`)).body).toHaveLength(limit);
  });

  it("returns each of 45 pets exactly once through the links, with and without a status", async () => {
    const added: Pet[] = [];
    for (let n = 0; n < 45; n++) {
      added.push(
        await add({ name: `Walk ${n}`, categoryId: BigInt(n), status: PetStatus.options[n % 3] ?? "" }),
      );
    }
    // The store can hold any number of other pets.
    const start = `/pets?limit=7&cursor=${encodeCursor((added[0]?.id ?? 0n) - 1n)}`;
    const mine = (pets: Pet[]) => pets.filter(({ id }) => added.some((pet) => pet.id === id));
    for (const status of [undefined, ...PetStatus.options]) {
      await eventually(
        () => followLinks(start + (status ? `&status=${status}` : "")),
        (pets) => {
          expect(mine(pets)).toEqual(added.filter((pet) => status === undefined || pet.status === status));
          expect(pets.map(({ id }) => id)).toEqual(
            [...pets.map(({ id }) => id)].sort((a, b) => (a < b ? -1 : 1)),
          );
          if (status) expect(new Set(pets.map((pet) => pet.status))).toEqual(new Set([status]));
        },
      );
    }
  });
});

describe("GET /pets/{petId}", () => {
  it("returns the new pet immediately, with the deprecation headers", async () => {
    const pet = await add({ name: "Rex", categoryId: 9007199254740993n, status: "sold" });
    const { status, headers, body } = await call(`/pets/${pet.id}`);
    expect(status).toBe(200);
    expect(body).toEqual(pet);
    expect(headers.get("deprecation")).toBe("@1795132800");
    expect(headers.get("sunset")).toBe("Thu, 05 Dec 2030 00:00:00 GMT");
    expect(headers.get("link")).toMatch(/^<[^>]+\/v1\/pets>; rel="successor-version"$/);
  });

  it.each([
    "1",
    "0",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "99999999999999999999999",
    "007",
    "1.0",
    "1e3",
    "abc",
    "%2e%2e%2f",
    "%00",
    "%ff",
    "%31%",
    "null",
  ])("returns 404 for the id %s", async (id) => {
    expect(await call(`/pets/${id}`)).toMatchObject({ status: 404, body: { code: "not_found" } });
  });
});
