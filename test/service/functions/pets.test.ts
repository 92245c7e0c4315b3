import { describe, expect, it, jest } from "@jest/globals";
import type { APIGatewayProxyResult } from "aws-lambda";
import { encodeCursor } from "../../../lib/cursor.ts";
import { parseJson } from "../../../lib/http/json.ts";
import { INT64_MAX } from "../../../lib/int64.ts";
import { type Pet, PetStatus } from "../../../lib/pet.ts";
import { context, requestEvent } from "../../support/event.ts";
import { ownTables } from "../../support/own-tables.ts";

// The list has only the pets of this file. The functions read the names of their tables when they start.
await ownTables();
const { handler: createPet } = await import("../../../functions/create-pet.ts");
const { handler: getPet } = await import("../../../functions/get-pet.ts");
const { handler: listPets } = await import("../../../functions/list-pets.ts");

const bodyOf = <T>({ body }: APIGatewayProxyResult) => parseJson(body) as T;

async function add(body: string): Promise<Pet> {
  const response = await createPet(requestEvent({ body }), context);
  expect(response.statusCode).toBe(201);
  return bodyOf<Pet>(response);
}

/** Follows the links to the last page; returns the pages. */
async function followPages(query: Record<string, string[]>): Promise<Pet[][]> {
  const pages: Pet[][] = [];
  for (let next: Record<string, string[]> | undefined = query; next; ) {
    const response: APIGatewayProxyResult = await listPets(requestEvent({ query: next }), context);
    expect(response.statusCode).toBe(200);
    pages.push(bodyOf<Pet[]>(response));
    const url = /^<(.*)>; rel="next"$/.exec(String(response.headers?.Link ?? ""))?.[1];
    next = url
      ? Object.fromEntries([...new URL(url).searchParams].map(([name, value]) => [name, [value]]))
      : undefined;
  }
  return pages;
}

describe("createPet and getPet", () => {
  it("store a pet and return it, every digit of it", async () => {
    for (const categoryId of ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0"]) {
      // "e" and a combining accent, which normalization would join.
      const pet = await add(`{"name":" Re\u0301x 🐕 ","categoryId":${categoryId},"status":"sold"}`);
      expect(pet).toEqual({
        id: expect.anything(),
        name: " Re\u0301x 🐕 ",
        categoryId: BigInt(categoryId),
        status: "sold",
      });
      const response = await getPet(requestEvent({ path: { petId: String(pet.id) } }), context);
      expect(response.statusCode).toBe(200);
      expect(bodyOf(response)).toEqual(pet);
    }
  });

  it("assign ids that every client can read, in order of creation", async () => {
    const before = Date.now();
    const { id } = await add('{"name":"A","categoryId":1,"id":5}');
    expect(id).toBeGreaterThan(5n);
    expect(id).toBeLessThan(2n ** 53n);
    const created = Number(id >> 12n) + Date.UTC(2026, 0, 1);
    expect(created).toBeGreaterThanOrEqual(before);
    expect(created).toBeLessThanOrEqual(Date.now());
  });

  it("return 404 for an id that no pet has", async () => {
    const response = await getPet(requestEvent({ path: { petId: "7" } }), context);
    expect(bodyOf(response)).toEqual({
      code: "not_found",
      message: "The requested resource could not be found.",
      status: 404n,
    });
  });
});

describe("createPet", () => {
  it("assigns 200 ids to 200 pets, of which 20 are added at once", async () => {
    const pets: Pet[] = [];
    while (pets.length < 200) {
      const batch = Array.from({ length: 20 }, (_, n) => add(`{"name":"Concurrent ${n}","categoryId":1}`));
      pets.push(...(await Promise.all(batch)));
    }
    expect(new Set(pets.map((pet) => pet.id)).size).toBe(200);
  });

  it("draws another id when one is taken", async () => {
    const now = jest.spyOn(Date, "now").mockReturnValue(Date.UTC(2026, 5, 1));
    try {
      // 300 of the 4,096 ids of one millisecond: it is almost certain that some are drawn twice.
      const pets: Pet[] = [];
      for (let n = 0; n < 300; n++) pets.push(await add(`{"name":"${n}","categoryId":1}`));
      expect(new Set(pets.map((pet) => pet.id)).size).toBe(300);
    } finally {
      now.mockRestore();
    }
  });
});

describe("listPets", () => {
  it("returns every pet exactly once, in ascending order, with any page size", async () => {
    const added: Pet[] = [];
    for (let n = 0; n < 45; n++) {
      added.push(await add(`{"name":"Walk ${n}","categoryId":${n},"status":"${PetStatus.options[n % 3]}"}`));
    }
    added.sort((a, b) => (a.id < b.id ? -1 : 1));
    // The other tests add their pets before or after these.
    const cursor = [encodeCursor((added[0]?.id ?? 0n) - 1n)];
    for (const limit of [1, 7, 20, 100]) {
      expect((await followPages({ cursor, limit: [String(limit)] })).flat()).toEqual(added);
    }
    for (const status of PetStatus.options) {
      const pages = await followPages({ cursor, limit: ["7"], status: [status] });
      expect(pages.map((page) => page.length)).toEqual([7, 7, 1]);
      expect(pages.flat()).toEqual(added.filter((pet) => pet.status === status));
    }
  });

  it("continues after a cursor while pets are added", async () => {
    for (let n = 0; n < 6; n++) await add(`{"name":"Early ${n}","categoryId":1}`);
    const first = await listPets(requestEvent({ query: { limit: ["5"] } }), context);
    const seen = bodyOf<Pet[]>(first);
    const late = await add('{"name":"Late","categoryId":1}');
    const cursor = /cursor=([\w-]+)/.exec(String(first.headers?.Link))?.[1] ?? "";
    const rest = (await followPages({ cursor: [cursor], limit: ["100"] })).flat();
    expect(rest).toContainEqual(late);
    expect(rest.filter((pet) => seen.some(({ id }) => id === pet.id))).toEqual([]);
  });

  it("has no link on a last page that is exactly full", async () => {
    const pets = [];
    for (let n = 0; n < 3; n++) pets.push(await add('{"name":"Full","categoryId":1,"status":"sold"}'));
    const cursor = encodeCursor((pets[0]?.id ?? 0n) - 1n);
    const page = (limit: string) =>
      listPets(requestEvent({ query: { limit: [limit], status: ["sold"], cursor: [cursor] } }), context);
    const full = await page("3");
    expect([bodyOf(full), full.headers?.Link]).toEqual([pets, undefined]);
    expect((await page("2")).headers?.Link).toContain(`cursor=${encodeCursor(pets[1]?.id ?? 0n)}>`);
  });

  it("links to the next page under the client's own address, and has no link on the last page", async () => {
    for (let n = 0; n < 2; n++) await add('{"name":"Sold","categoryId":1,"status":"sold"}');
    const response = await listPets(requestEvent({ query: { limit: ["1"], status: ["sold"] } }), context);
    expect(response.headers?.Link).toMatch(
      /^<https:\/\/api\.example\/v1\/pets\?limit=1&status=sold&cursor=[\w-]{16}>; rel="next"$/,
    );
    const last = await listPets(requestEvent({ query: { cursor: [encodeCursor(INT64_MAX)] } }), context);
    expect([last.statusCode, last.body, last.headers?.Link]).toEqual([200, "[]", undefined]);
  });
});
