import { describe, expect, it } from "@jest/globals";
import { encodeCursor } from "../../lib/cursor.ts";
import type { Pet } from "../../lib/pet.ts";
import { add, call, eventually, nextLink, post, walk } from "./client.ts";

const statuses = ["available", "pending", "sold"] as const;

describe("POST /pets", () => {
  it("adds an animal under an id of the service's own and returns it", async () => {
    const { status, body } = await post(
      '{"name":"Rex","categoryId":1,"status":"pending","id":1,"owner":"me"}',
    );
    expect(status).toBe(201);
    expect(body).toEqual({ id: expect.anything(), name: "Rex", categoryId: 1n, status: "pending" });
    expect((body as Pet).id).toBeGreaterThan(1n);
    expect((body as Pet).id).toBeLessThan(2n ** 53n);
  });

  it("makes an animal available when no status is given", async () => {
    expect((await add({ name: "Rex", categoryId: 1n })).status).toBe("available");
  });

  it("keeps every int64 and every name as it was sent", async () => {
    for (const categoryId of [9223372036854775807n, -9223372036854775808n, 9007199254740993n, 0n]) {
      await add({ name: "Rex", categoryId });
    }
    for (const name of ["x", "🐕".repeat(256), " \u0000\u202e\u2028", '"}<script>&', "é", "__proto__"]) {
      await add({ name, categoryId: 1n });
    }
  });

  it("gives animals that are added at once ids of their own", async () => {
    const pets = await Promise.all(
      Array.from({ length: 50 }, (_, n) => add({ name: `At once ${n}`, categoryId: 1n })),
    );
    expect(new Set(pets.map((pet) => pet.id)).size).toBe(50);
  });
});

describe("POST /pets with an Idempotency-Key", () => {
  const key = () => ({ "Idempotency-Key": crypto.randomUUID() });

  it("answers the same request with the first animal, byte for byte, alone and at once", async () => {
    const headers = key();
    const body = '{"name":"Once","categoryId":9007199254740993}';
    const first = await post(body, headers);
    expect(first.status).toBe(201);
    const again = await Promise.all(Array.from({ length: 10 }, () => post(body, headers)));
    expect(new Set(again.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set([`201 ${first.text}`]),
    );
  });

  it("answers 422 to another body, and 400 to what is no key", async () => {
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
  it("returns at most 20 animals unless a limit is given, and as many as the limit says", async () => {
    await Promise.all(Array.from({ length: 21 }, () => add({ name: "Many", categoryId: 1n })));
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

  it("reaches each of 45 animals exactly once through the links, with and without a status", async () => {
    const added: Pet[] = [];
    for (let n = 0; n < 45; n++) {
      added.push(await add({ name: `Walk ${n}`, categoryId: BigInt(n), status: statuses[n % 3] ?? "" }));
    }
    // Starts where these animals start, for a store may hold any number of others.
    const start = `/pets?limit=7&cursor=${encodeCursor((added[0]?.id ?? 0n) - 1n)}`;
    const mine = (pets: Pet[]) => pets.filter(({ id }) => added.some((pet) => pet.id === id));
    for (const status of [undefined, ...statuses]) {
      await eventually(
        () => walk(start + (status ? `&status=${status}` : "")),
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
  it("returns the animal at once, and says that the operation is deprecated", async () => {
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
  ])("answers 404 for the id %s", async (id) => {
    expect(await call(`/pets/${id}`)).toMatchObject({ status: 404, body: { code: "not_found" } });
  });
});
