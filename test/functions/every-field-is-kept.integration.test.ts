import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "@jest/globals";
import { parseJson } from "../../lib/http/json.ts";
import { PAGE_SIZE } from "../../lib/limits.ts";
import { NewPet, type Pet } from "../../lib/pet.ts";
import { openApiDocument } from "../../openapi/document.ts";
import { context, requestEvent } from "../support/event.ts";
import { createOwnTables } from "../support/own-tables.ts";

// Every member of a pet takes the whole way, from the request to the table, the responses and the documentation.

const tables = await createOwnTables();
const { handler: createPet } = await import("../../functions/create-pet.ts");
const { handler: getPet } = await import("../../functions/get-pet.ts");
const { handler: listPets } = await import("../../functions/list-pets.ts");
const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const { schemas } = openApiDocument().components;

/** Returns two valid values of a member, as JSON, and an invalid one. */
function samplesOf(name: string): [unknown, unknown, unknown] {
  const property = (schemas.NewPet as { properties: Record<string, { $ref?: string }> }).properties[name];
  const { type, enum: values } = (schemas[property?.$ref?.split("/").at(-1) ?? ""] ?? property) as {
    type: string;
    enum?: [string, string];
  };
  if (values) return [values[0], values[1], "?"];
  if (type === "string") return ["One", "Two", 1];
  if (type === "integer") return [1, 2, "1"];
  if (type === "boolean") return [true, false, "true"];
  throw new Error(`Add two valid values and an invalid one for the type of ${name}.`);
}

const query = { limit: [String(PAGE_SIZE.maximum)] };
const names = Object.keys(NewPet.shape);
const valid = Object.fromEntries(names.map((name) => [name, samplesOf(name)[0]]));

async function create(body: object, key: string | null = randomUUID()) {
  const headers = { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) };
  const response = await createPet(requestEvent({ headers, body: JSON.stringify(body) }), context);
  return { status: response.statusCode, text: response.body, body: parseJson(response.body) as Pet };
}

type Item = Record<string, unknown>;
const stored = async (id: bigint): Promise<Item | undefined> =>
  (await client.send(new GetCommand({ TableName: tables.PETS_TABLE, Key: { id } }))).Item;

const get = async (id: bigint) =>
  parseJson((await getPet(requestEvent({ path: { petId: String(id) } }), context)).body);

const list = async () => parseJson((await listPets(requestEvent({ query }), context)).body) as Pet[];

describe.each(names)("%s", (name) => {
  const [first, second, invalid] = samplesOf(name);

  it("is stored, and returned by every operation", async () => {
    const { status, body } = await create({ ...valid, [name]: second });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { [name]: parseJson(JSON.stringify(second)) },
    });
    expect(await get(body.id)).toEqual(body);
    expect((await list()).find(({ id }) => id === body.id)).toEqual(body);
    expect(await stored(body.id)).toMatchObject({ [name]: second });
  });

  it("is part of what a retry must repeat", async () => {
    const key = randomUUID();
    const { text } = await create(valid, key);
    expect((await create({ ...valid, [name]: second }, key)).status).toBe(422);
    const again = Object.fromEntries(Object.entries({ ...valid, [name]: first }).toReversed());
    expect((await create(again, key)).text).toBe(text);
  });

  it("is refused when it is invalid", async () => {
    const { status, text } = await create({ ...valid, [name]: invalid });
    const { message } = JSON.parse(text);
    expect({ status, message }).toEqual({ status: 400, message: expect.stringContaining(`${name} must be`) });
  });
});

it("a pet without an Idempotency-Key has no fingerprint, which could confirm a guess", async () => {
  const { body } = await create(valid, null);
  expect(Object.keys((await stored(body.id)) ?? {}).sort()).toEqual(
    ["id", "creationId", "creationOrder", ...names].sort(),
  );
});

// Never change these values: see test/lib/creation.test.ts.
it("a request has the same id and fingerprint in every version, with and without defaults", async () => {
  const pet = { name: "Rex", categoryId: 1 };
  for (const sent of [pet, { ...pet, status: "available" }]) {
    const { body } = await create(sent, "8e03978e-40d5-43dd-bc93-6894a57f9324");
    expect(body.id).toBe(2160745118624708n);
    expect((await stored(body.id))?.fingerprint).toBe("tlLylVfFvlL98m94aUQgnB");
  }
});

it.each(names)("a pet that was stored before %s existed is returned without it", async (name) => {
  const { body } = await create(valid);
  await client.send(
    new UpdateCommand({
      TableName: tables.PETS_TABLE,
      Key: { id: body.id },
      UpdateExpression: "REMOVE #name",
      ExpressionAttributeNames: { "#name": name },
    }),
  );
  const { [name as keyof Pet]: _, ...rest } = body;
  expect(await get(body.id)).toEqual(rest);
});
