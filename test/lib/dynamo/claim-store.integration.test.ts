import { randomUUID } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { MAX_ID_ATTEMPTS, petCreator, petFinder, petLister } from "../../../lib/dynamo/pet-store.ts";
import { IDEMPOTENCY_SECONDS } from "../../../lib/limits.ts";
import type { Pet } from "../../../lib/pet.ts";
import { WRITABLE_MS } from "../../../lib/pet-id.ts";
import { context, requestEvent } from "../../support/event.ts";
import { createOwnTables } from "../../support/own-tables.ts";
import { listAll } from "../../support/pets.ts";
import { trialOperations } from "../../support/trial-operations.ts";

// Every list is of the whole table, so it has only the pets of this file.
const { pets, claims } = await createOwnTables();
const { handler: createPet } = await import("../../../functions/create-pet.ts");

// biome-ignore lint/suspicious/noExplicitAny: commands of every kind pass here
const send = jest.spyOn(DynamoDBDocumentClient.prototype, "send") as any;
const realSend = send.getMockImplementation() ?? DynamoDBDocumentClient.prototype.send;
afterEach(() => {
  send.mockReset();
  send.mockImplementation(realSend);
});

const store = petCreator({ pets, claims }, 1);
const { changeStatus, deletePet } = trialOperations(pets, 1);
const rex = { name: "Rex", categoryId: 1n, status: "sold" as const };

const isPut = (table: string) => (command: unknown) =>
  command instanceof PutCommand && command.input.TableName === table;

function create(key: string, name = "Once", keyId = "key_test") {
  const headers = { "Content-Type": "application/json", "idempotency-key": key };
  const body = JSON.stringify({ name, categoryId: 1 });
  const authorizer = { keyId, scopes: "pets:write" };
  return createPet(requestEvent({ headers, body, authorizer }), context);
}

it("createPet treats the same Idempotency-Key of different API keys as different, wherever a key ID ends", async () => {
  const key = randomUUID();
  const tokens = [
    ["key_1", `2${key}`],
    ["key_2", `2${key}`],
    ["key_12", key],
  ] as const;
  const responses = await Promise.all(tokens.map(([keyId, text]) => create(text, "Once", keyId)));
  expect(new Set(responses.map(({ body }) => JSON.parse(body).id)).size).toBe(tokens.length);
});

it("createPet forgets an Idempotency-Key when its time has passed, and has DynamoDB delete the claim, in seconds", async () => {
  const key = randomUUID();
  const created = Math.floor(Date.now() / 1000) * 1000 + 999; // claims last for whole seconds
  const window = IDEMPOTENCY_SECONDS * 1000;
  const now = jest.spyOn(Date, "now").mockReturnValue(created);
  const first = await create(key);
  const [command] = send.mock.calls[0] as [PutCommand];
  expect(command.input.Item?.expiresAt).toBe((created + 1 + window) / 1000);
  now.mockReturnValue(created + window);
  expect(await create(key)).toEqual(first);
  now.mockReturnValue(created + window + 1);
  const later = await create(key, "Another day");
  now.mockRestore();
  expect(later.statusCode).toBe(201);
  expect(JSON.parse(later.body).id).not.toBe(JSON.parse(first.body).id);
  // A request of the first day that still runs does not take the second claim for its own.
  const creations = send.mock.calls.flatMap(([{ input }]: [PutCommand]) => input.Item?.creationId ?? []);
  expect(creations.at(-1)).not.toBe(creations[0]);
});

describe.each([0, WRITABLE_MS + 1000])("a retry %i ms after a creation returns the first 201, and", (ms) => {
  it.each<[string, (id: bigint) => Promise<unknown>, Pet["status"] | null]>([
    ["does not undo a change", (id) => changeStatus(id, "pending"), "pending"],
    ["does not bring back a deleted pet", (id) => deletePet(id), null],
  ])("%s: the list has the pet as it is now", async (_what, change, status) => {
    const key = randomUUID();
    const first = await create(key);
    const id = BigInt(JSON.parse(first.body).id);
    const changed = status ? { id, name: "Once", categoryId: 1n, status } : undefined;
    expect([await change(id), await change(7n)]).toEqual(changed ? [changed, undefined] : [true, false]);
    const now = jest.spyOn(Date, "now").mockReturnValue(Date.now() + ms);
    expect(await create(key)).toEqual(first);
    now.mockRestore();
    expect(await petFinder(pets).find(id)).toEqual(changed);
    const list = await listAll(petLister(pets, 1), { limit: 100 });
    expect(list.filter((pet) => pet.id === id)).toEqual(changed ? [changed] : []);
  });
});

const refuse = (Item?: ConditionalCheckFailedException["Item"]) => () =>
  Promise.reject(new ConditionalCheckFailedException({ message: "", $metadata: {}, ...(Item && { Item }) }));
const another = { creationId: { S: "another" }, petId: { N: "2" } };

it("a creation draws another id when another pet has the first one", async () => {
  jest.spyOn(Date, "now").mockReturnValueOnce(Date.now() - 1000);
  send.mockImplementationOnce(refuse(another));
  const { id } = await store.create(rex);
  const drawn = send.mock.calls.map(([{ input }]: [PutCommand]) => input.Item?.id);
  expect(drawn).toEqual([expect.anything(), id]);
  expect(drawn[0]).not.toBe(id);
});

describe("a creation gives up with a 503", () => {
  const token = { keyId: "key_test", idempotencyKey: "1" };
  /** Its claim is stored, its id is taken, and then a refusal of the new id. */
  const replaced = (item?: typeof another) => (command: object) => {
    if (isPut(claims)(command)) return {};
    return isPut(pets)(command) ? refuse(another)() : refuse(item)();
  };

  it.each<[when: string, respond: (command: never) => object, sent: string, claimant?: typeof token]>([
    ["after some ids that other pets have", refuse(another), Array(MAX_ID_ATTEMPTS).fill("Put").join(" ")],
    ["when nobody can tell who has its id", refuse(), "Put"],
    ["when nobody can tell who has its claim", refuse(), "Put", token],
    ["when its id is taken and its claim was deleted", replaced(), "Put Put Update", token],
    ["when its id is taken and its claim was replaced", replaced(another), "Put Put Update", token],
  ])("%s", async (_when, respond, sent, ...claimant) => {
    send.mockImplementation(respond);
    await expect(store.create(rex, ...claimant)).rejects.toMatchObject({ code: "unavailable" });
    const commands = send.mock.calls.map(([command]: [object]) => command.constructor.name);
    expect(commands.join(" ").replaceAll("Command", "")).toBe(sent);
  });
});
