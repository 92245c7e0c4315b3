import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { expect, it } from "@jest/globals";
import { petCreator, petRemover } from "../../../lib/dynamo/pet-store.ts";
import { BODY_LIMIT, PAGE_SIZE } from "../../../lib/limits.ts";
import { NewPet } from "../../../lib/pet.ts";
import { createOwnTables } from "../../support/own-tables.ts";

/** The items of a table that has one page of them. */
async function scan(TableName: string) {
  const client = new DynamoDBClient();
  const { Items = [] } = await client.send(new ScanCommand({ TableName }));
  client.destroy();
  return Items;
}

it("keeps nothing of a deleted pet but its ids", async () => {
  const { PETS_TABLE: pets } = await createOwnTables();
  const { id } = await petCreator(pets).create({ name: "Rex", categoryId: 1n, status: "sold" });
  await petRemover(pets).remove(id);
  expect((await scan(pets)).map((item) => Object.keys(item).sort())).toEqual([
    ["creationId", "deletionId", "id"],
  ]);
});

it("stores pets so small that DynamoDB returns the largest page in one response", async () => {
  const { PETS_TABLE: pets } = await createOwnTables();
  const token = { keyId: "key_test", idempotencyKey: "1" };
  await petCreator(pets).create({ name: "Rex", categoryId: 1n, status: "sold" }, token);
  // DynamoDB splits a response at 1 MB. DynamoDB guide, "Item sizes and formats": a number takes less than its digits.
  const own = Object.entries((await scan(pets))[0] ?? {}).filter(([name]) => !(name in NewPet.shape));
  const ownSize = own.reduce((size, [name, { S, N }]) => size + name.length + (S ?? N ?? "").length, 0);
  expect(ownSize).toBeGreaterThan(0);
  expect((BODY_LIMIT + ownSize) * (PAGE_SIZE.maximum + 1)).toBeLessThan(10 ** 6);
});
