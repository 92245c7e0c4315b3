import { describe, expect, it } from "@jest/globals";
import { NAME_LIMIT } from "../../lib/limits.ts";
import type { Pet } from "../../lib/pet.ts";
import { eventually } from "../support/eventually.ts";
import { add, atOnce, followLinks, post, recent } from "./client.ts";

describe("POST /pets", () => {
  it("adds a pet under an id that the service assigns, and returns it", async () => {
    const sent = '{"name":"Rex","categoryId":1,"status":"pending","id":1,"owner":"me"}';
    const { status, body } = await post(sent);
    const { id } = body as Pet;
    expect({ status, body }).toEqual({
      status: 201,
      body: { id, name: "Rex", categoryId: 1n, status: "pending" },
    });
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
    const start = recent();
    const added: Pet[] = []; // `add` compares each with what it sent
    for (const categoryId of categories) added.push(await add({ name: "Rex", categoryId }));
    for (const name of odd) added.push(await add({ name, categoryId: 1n }));
    await eventually(
      async () => (await followLinks(`/pets?cursor=${start}`)).flat(),
      (pets) => expect(pets).toEqual(expect.arrayContaining(added)),
    );
  });

  it.each([
    ["1e3", 1000n],
    ["1000.0", 1000n],
    ["-9.223372036854775808E+18", -9223372036854775808n],
  ])("reads the category %s as the integer that it denotes", async (categoryId, integer) => {
    const reply = await post(`{"name":"Rex","categoryId":${categoryId}}`);
    expect(reply).toMatchObject({ status: 201, body: { categoryId: integer } });
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
    for (const reply of again) expect(reply).toMatchObject({ status: 201, text: first.text });
  });

  it("adds a pet for each of two keys that differ only in case", async () => {
    const rest = crypto.randomUUID();
    const send = (key: string) => post('{"name":"Case","categoryId":1}', { "Idempotency-Key": key });
    const [upper, lower] = [await send(`A${rest}`), await send(`a${rest}`)];
    for (const reply of [upper, lower]) expect(reply).toMatchObject({ status: 201 });
    expect((upper.body as Pet).id).not.toBe((lower.body as Pet).id);
  });

  it("returns 422 to another pet, and 400 to an invalid key", async () => {
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
