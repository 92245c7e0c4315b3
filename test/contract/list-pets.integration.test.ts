import { describe, expect, it } from "@jest/globals";
import { encodeCursor } from "../../lib/cursor.ts";
import { PAGE_SIZE } from "../../lib/limits.ts";
import { type Pet, PetStatus } from "../../lib/pet.ts";
import { eventually } from "../support/eventually.ts";
import { add, atOnce, call, followLinks, nextLink, recent } from "./client.ts";

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
    const start = `/pets?limit=5&cursor=${recent()}`;
    const added: Pet[] = [];
    for (let n = 0; n < 24; n++) {
      const status = PetStatus.options[n % PetStatus.options.length];
      added.push(await add({ name: `Walk ${n}`, categoryId: BigInt(n), status }));
    }
    const mine = (pets: Pet[]) => pets.filter(({ id }) => added.some((pet) => pet.id === id));
    for (const status of [undefined, ...PetStatus.options]) {
      await eventually(
        async () => (await followLinks(start + (status ? `&status=${status}` : ""))).flat(),
        (pets) => {
          expect(mine(pets)).toEqual(added.filter((pet) => status === undefined || pet.status === status));
          expect(new Set(pets.map(({ id }) => id)).size).toBe(pets.length);
          if (status) expect(new Set(pets.map((pet) => pet.status))).toEqual(new Set([status]));
        },
      );
    }
  });

  it("returns the pets of its start once, also while others are added", async () => {
    const start = `/pets?limit=1&cursor=${recent()}`;
    const first = [
      await add({ name: "First", categoryId: 1n }),
      await add({ name: "Second", categoryId: 1n }),
    ];
    const walk = async () => {
      const found: Pet[] = [];
      for (let next: string | undefined = start; next; ) {
        const reply = await call(next);
        found.push(...(reply.body as Pet[]));
        next = nextLink(reply);
        if (found.length < 3) await add({ name: "Later", categoryId: 1n, status: "sold" });
      }
      return found;
    };
    await eventually(walk, (found) => {
      expect(found).toEqual(expect.arrayContaining(first));
      expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    });
  });

  it("has no link on the last page, even if it is full", async () => {
    const start = `/pets?limit=1&cursor=${recent()}`;
    const { id } = await add({ name: "Last", categoryId: 1n });
    await eventually(
      () => followLinks(start),
      (pages) => {
        expect(pages.flat()).toContainEqual(expect.objectContaining({ id }));
        expect(pages.at(-1)).toHaveLength(1);
      },
    );
  });

  it("returns an empty page without a link after the last pet", async () => {
    const reply = await call(`/pets?cursor=${encodeCursor(2n ** 112n - 1n)}`);
    expect({ ...reply, next: nextLink(reply) }).toMatchObject({ status: 200, body: [], next: undefined });
  });

  it("ignores unknown query parameters", async () => {
    expect((await call("/pets?Limit=0&__proto__=0&id=")).status).toBe(200);
  });
});
