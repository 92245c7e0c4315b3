import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { expect, it } from "@jest/globals";
import { parseJson } from "../../lib/http/json.ts";
import { NewPet, type Pet } from "../../lib/pet.ts";
import { exampleOf } from "../../openapi/example-values.ts";
import { context, requestEvent } from "../support/event.ts";
import { createOwnTables } from "../support/own-tables.ts";

// What the table has of a pet. every-body-is-kept.integration.test.ts has the way of each field.

const tables = await createOwnTables();
const { handler: createPet } = await import("../../functions/create-pet.ts");
const { handler: getPet } = await import("../../functions/get-pet.ts");
const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const names = Object.keys(NewPet.shape);

async function create(body: unknown, key?: string): Promise<Pet> {
  const headers = { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) };
  const response = await createPet(requestEvent({ headers, body: JSON.stringify(body) }), context);
  return parseJson(response.body) as Pet;
}

const stored = async (id: bigint): Promise<Record<string, unknown>> =>
  (await client.send(new GetCommand({ TableName: tables.PETS_TABLE, Key: { id } }))).Item ?? {};

it("a pet without an Idempotency-Key has no fingerprint, which could confirm a guess", async () => {
  const { id } = await create(exampleOf(NewPet));
  const own = ["id", "creationId", "creationOrder", ...names];
  expect(Object.keys(await stored(id)).sort()).toEqual(own.sort());
});

// Never change these values: see test/lib/creation.test.ts.
it("a request has the same id and fingerprint in every version, with and without defaults", async () => {
  const pet = { name: "Rex", categoryId: 1 };
  for (const sent of [pet, { ...pet, status: "available" }]) {
    const { id } = await create(sent, "8e03978e-40d5-43dd-bc93-6894a57f9324");
    expect(id).toBe(2160745118624708n);
    expect((await stored(id)).fingerprint).toBe("tlLylVfFvlL98m94aUQgnB");
  }
});

it.each(names)("a pet that was stored before %s existed is returned without it", async (name) => {
  const { [name as keyof Pet]: _, ...rest } = await create(exampleOf(NewPet));
  const update = { UpdateExpression: "REMOVE #name", ExpressionAttributeNames: { "#name": name } };
  const { id } = rest as Pet;
  await client.send(new UpdateCommand({ TableName: tables.PETS_TABLE, Key: { id }, ...update }));
  const { body } = await getPet(requestEvent({ path: { petId: String(id) } }), context);
  expect(parseJson(body)).toEqual(rest);
});
