import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { expect, it, jest } from "@jest/globals";
import { creationOrder } from "../../../lib/creation.ts";
import { petCreator, petLister } from "../../../lib/dynamo/pet-store.ts";
import { BODY_LIMIT, PAGE_SIZE } from "../../../lib/limits.ts";
import { NewPet, type Pet, PetStatus } from "../../../lib/pet.ts";
import { createOwnTables } from "../../support/own-tables.ts";
import { listAll } from "../../support/pets.ts";

let now = Date.UTC(2026, 5, 1);
jest.spyOn(Date, "now").mockImplementation(() => now);

it("lists every pet exactly once, in order of the times of their writes", async () => {
  const { petsTable: pets } = await createOwnTables();
  const lister = petLister(pets);
  const { create } = petCreator(pets);
  const added: Pet[] = [];
  for (let n = 0; n < 24; n++, now++) {
    const status = PetStatus.options[n % PetStatus.options.length] ?? "sold";
    added.push(await create({ name: `Pet ${n}`, categoryId: BigInt(n), status }));
  }
  for (const limit of [5, 100]) expect(await listAll(lister, { limit })).toEqual(added);
  expect((await lister.list({ limit: 23 })).next).toBe(creationOrder(now - 2, added[22]?.id));
  expect((await lister.list({ limit: 24 })).next).toBeUndefined();
  for (const status of PetStatus.options)
    expect(await listAll(lister, { limit: 5, status })).toEqual(added.filter((pet) => pet.status === status));
});

it("stores pets so small that DynamoDB returns the largest page in one response", async () => {
  const { petsTable: pets } = await createOwnTables();
  const token = { keyId: "key_test", idempotencyKey: "1" };
  await petCreator(pets).create({ name: "Rex", categoryId: 1n, status: "sold" }, token);
  const client = new DynamoDBClient();
  const { Items = [] } = await client.send(new ScanCommand({ TableName: pets }));
  client.destroy();
  // DynamoDB splits a response at 1 MB. DynamoDB guide, "Item sizes and formats": a number takes less than its digits.
  const own = Object.entries(Items[0] ?? {}).filter(([name]) => !(name in NewPet.shape));
  const ownSize = own.reduce((size, [name, { S, N }]) => size + name.length + (S ?? N ?? "").length, 0);
  expect(ownSize).toBeGreaterThan(0);
  expect((BODY_LIMIT + ownSize) * (PAGE_SIZE.maximum + 1)).toBeLessThan(10 ** 6);
});
