import { randomUUID } from "node:crypto";
import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { petCreator, petFinder, petItem, petLister } from "../../../lib/dynamo/pet-store.ts";
import { IDEMPOTENCY_SECONDS } from "../../../lib/limits.ts";
import type { Pet } from "../../../lib/pet.ts";
import { petIdAt } from "../../../lib/pet-id.ts";
import { context, requestEvent } from "../../support/event.ts";
import { eventually } from "../../support/eventually.ts";
import { createOwnTables } from "../../support/own-tables.ts";
import { countNamed, listAll } from "../../support/pets.ts";

// Every count lists the whole table, so it has only the pets of this file.
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
const documents = DynamoDBDocumentClient.from(new DynamoDBClient(), {
  unmarshallOptions: { wrapNumbers: BigInt },
});
const rex = { name: "Rex", categoryId: 1n, status: "sold" as const };

const isPut = (table: string) => (command: unknown) =>
  command instanceof PutCommand && command.input.TableName === table;

function create(key: string, name = "Once", caller = "key_test") {
  const headers = { "Content-Type": "application/json", "idempotency-key": key };
  const body = JSON.stringify({ name, categoryId: 1 });
  const authorizer = { keyId: caller, scopes: "pets:write" };
  return createPet(requestEvent({ headers, body, authorizer }), context);
}

describe("createPet with an Idempotency-Key", () => {
  it("adds one pet for 50 requests at once", async () => {
    const key = randomUUID();
    const name = `Fifty ${key}`;
    const bodies = new Set<string>();
    const add = () =>
      eventually(
        () => create(key, name),
        ({ statusCode, body }) => {
          expect(statusCode).toBe(201); // on a busy machine, a response of the store can be too late
          bodies.add(body);
        },
      );
    await Promise.all(Array.from({ length: 50 }, add));
    expect(bodies.size).toBe(1);
    expect(await countNamed(petLister(pets, 1), name)).toBe(1);
  });

  it("treats the same key of different callers as different keys, wherever a caller ends", async () => {
    const key = randomUUID();
    const tokens = [
      { caller: "key_1", key: `2${key}` },
      { caller: "key_2", key: `2${key}` },
      { caller: "key_12", key },
    ];
    const responses = await Promise.all(tokens.map(({ key, caller }) => create(key, "Once", caller)));
    expect(new Set(responses.map(({ body }) => JSON.parse(body).id)).size).toBe(3);
  });

  it("forgets a key when its time has passed, and has DynamoDB delete the claim, in seconds", async () => {
    const key = randomUUID();
    const created = Date.now();
    const now = jest.spyOn(Date, "now").mockReturnValue(created);
    const first = await create(key);
    const [command] = send.mock.calls[0] as [PutCommand];
    expect(command.input.Item?.expiresAt).toBe(Math.ceil(created / 1000) + IDEMPOTENCY_SECONDS);
    now.mockReturnValue(created + IDEMPOTENCY_SECONDS * 1000 - 2000);
    expect(await create(key)).toEqual(first);
    now.mockReturnValue(created + IDEMPOTENCY_SECONDS * 1000 + 2000);
    const later = await create(key, "Another day");
    now.mockRestore();
    expect(later.statusCode).toBe(201);
    expect(JSON.parse(later.body).id).not.toBe(JSON.parse(first.body).id);
  });
});

it("a late retry adds the pet with a new id, and no operation returns the id that the crashed request left", async () => {
  const token = { caller: "key_test", key: randomUUID() };
  send.mockImplementation(function (this: DynamoDBDocumentClient, command: never) {
    return isPut(pets)(command) ? Promise.reject(new Error("Crash")) : realSend.call(this, command);
  });
  await expect(store.create(rex, token)).rejects.toThrow("Crash");
  const { petId } = (send.mock.calls[0] as [PutCommand])[0].input.Item ?? {};
  send.mockImplementation(realSend);

  const later = Date.now() + 11_000;
  const now = jest.spyOn(Date, "now").mockReturnValue(later);
  const pet = await store.create(rex, token);
  const again = await store.create(rex, token);
  now.mockRestore();
  expect(pet.id).toBeGreaterThanOrEqual(petIdAt(later, 0));
  expect(again).toEqual(pet);
  expect(await petFinder(pets).find(petId)).toBeUndefined();
});

it("adds no pet after it gave up and responded", async () => {
  jest.spyOn(console, "error").mockReturnValueOnce();
  const event = requestEvent({
    headers: { "Content-Type": "application/json", "idempotency-key": randomUUID() },
    body: JSON.stringify({ name: "Late", categoryId: 1 }),
  });
  const responded = Promise.withResolvers<void>();
  send.mockImplementation(async function (this: DynamoDBDocumentClient, command: unknown, options: unknown) {
    if (isPut(pets)(command)) await responded.promise;
    return realSend.call(this, command, options);
  });
  const response = await createPet(event, { ...context, getRemainingTimeInMillis: () => 500 });
  expect(response.statusCode).toBe(503);
  responded.resolve();
  await eventually(
    () => Promise.allSettled(send.mock.results.map(({ value }: { value: unknown }) => value)),
    (writes) => expect(writes).toMatchObject([{ status: "fulfilled" }, { reason: { code: "unavailable" } }]),
  );
  expect(await countNamed(petLister(pets, 1), "Late")).toBe(0);
});

describe.each([0, 11_000])("a retry %i ms after a creation returns the first 201, and", (ms) => {
  // What a later operation does to a pet by the rules of docs/decisions/claim-then-put.md.
  it.each<[string, (pet: Pet) => Pet | undefined]>([
    [
      "does not undo a change: the list has the pet under its new status",
      (pet) => ({ ...pet, status: "pending" }),
    ],
    ["does not bring back a deleted pet", () => undefined],
  ])("%s", async (_what, change) => {
    const key = randomUUID();
    const first = await create(key);
    const stored = await store.create(
      { name: "Once", categoryId: 1n, status: "available" },
      { caller: "key_test", key },
    );
    const { id } = stored;
    const { Item } = await documents.send(new GetCommand({ TableName: pets, Key: { id } }));
    const creation = Item?.creation;
    const changed = change(stored);
    const item = changed ? petItem(changed, creation, 1) : { id, creation };
    await documents.send(
      new PutCommand({ TableName: pets, Item: item, ConditionExpression: "attribute_exists(statusShard)" }),
    );
    const now = jest.spyOn(Date, "now").mockReturnValue(Date.now() + ms);
    expect(await create(key)).toEqual(first);
    now.mockRestore();
    expect(await petFinder(pets).find(id)).toEqual(changed);
    const list = await listAll(petLister(pets, 1), { limit: 100 });
    expect(list.filter((pet) => pet.id === id)).toEqual(changed ? [changed] : []);
  });
});

const refuse = () => Promise.reject(new ConditionalCheckFailedException({ message: "", $metadata: {} }));
const isGet = (command: object) => command instanceof GetCommand;
const another = { Item: { creation: "another", petId: 2n } };

it("a creation draws another id when another pet has the first one", async () => {
  jest.spyOn(Date, "now").mockReturnValueOnce(Date.now() - 1000);
  send.mockImplementationOnce(refuse).mockImplementationOnce(() => another);
  const { id } = await store.create(rex);
  const drawn = send.mock.calls.flatMap(([{ input }]: [PutCommand]) => input.Item?.id ?? []);
  expect(drawn).toEqual([expect.anything(), id]);
  expect(drawn[0]).not.toBe(id);
});

describe("a creation gives up with a 503", () => {
  const token = { caller: "key_test", key: "1" };
  const fiveTimes = Array(5).fill("Put Get").join(" ");
  const unlessClaimed = (found: object) => (command: GetCommand) => {
    if (isPut(claims)(command)) return {};
    if (!isGet(command)) return refuse();
    return command.input.TableName === claims ? found : another;
  };

  const replaced = "Put Put Get Update Get";
  const unread = (command: object) => (isPut(claims)(command) ? refuse() : {});

  it.each<[when: string, respond: (command: never) => object, sent: string, claimant?: typeof token]>([
    ["after five ids that other pets have", (command) => (isGet(command) ? another : refuse()), fiveTimes],
    ["when nobody can tell who has its id", (command) => (isGet(command) ? {} : refuse()), "Put Get"],
    ["after five claims that others had and that were then deleted", unread, fiveTimes, token],
    ["when its id is taken and its claim was deleted", unlessClaimed({}), replaced, token],
    ["when its id is taken and its claim was replaced", unlessClaimed(another), replaced, token],
  ])("%s", async (_when, respond, sent, ...claimant) => {
    send.mockImplementation(respond);
    await expect(store.create(rex, ...claimant)).rejects.toMatchObject({ code: "unavailable" });
    const commands = send.mock.calls.map(([command]: [object]) => command.constructor.name);
    expect(commands.join(" ").replaceAll("Command", "")).toBe(sent);
  });
});
