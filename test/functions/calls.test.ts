import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, describe, expect, it, jest } from "@jest/globals";
import type { APIGatewayTokenAuthorizerEvent } from "aws-lambda";
import { generateApiKey, hashApiKey, recordOf } from "../../lib/api-key.ts";
import { keyStore } from "../../lib/dynamo/key-store.ts";
import { petCreator } from "../../lib/dynamo/pet-store.ts";
import type { PetStatus } from "../../lib/pet.ts";
import { recordCalls } from "../support/calls.ts";
import { context, event } from "../support/event.ts";
import { ownTables } from "../support/own-tables.ts";

// What a Query costs depends on the size of the items beside it.
const { pets, claims, keys } = await ownTables();

// The functions read the names of their tables when they start.
const functions = await Promise.all([
  import("../../functions/get-pet.ts"),
  import("../../functions/list-pets.ts"),
  import("../../functions/create-pet.ts"),
  import("../../functions/authorize.ts"),
]);
const [{ handler: getPet }, { handler: listPets }, { handler: createPet }, { handler: authorize }] =
  functions;
await Promise.all(functions.map(({ ready }) => ready));

jest.spyOn(console, "info").mockImplementation(() => undefined);
const recorder = recordCalls();
beforeEach(() => {
  recorder.take();
});
afterAll(() => recorder.stop());

/** The calls since the last time, each as its command, table (or index) and units. */
const taken = () =>
  recorder.take().map(({ command, input, units }) => [command, input.IndexName ?? input.TableName, units]);

const statuses: PetStatus[] = ["available", "pending", "sold"];

describe("a request calls DynamoDB", () => {
  const create = (headers = {}) =>
    createPet(
      event({
        headers: { "Content-Type": "application/json", ...headers },
        body: '{"name":"Rex","categoryId":1}',
      }),
      context,
    );

  // The embedded store does not count the entry in the index, which takes DynamoDB one unit more.
  it("to create: one write of the smallest size", async () => {
    expect((await create()).statusCode).toBe(201);
    expect(taken()).toEqual([["PutCommand", pets, 1]]);
  });

  it("to create once: one write more, of the claim", async () => {
    expect((await create({ "Idempotency-Key": randomUUID() })).statusCode).toBe(201);
    expect(taken()).toEqual([
      ["PutCommand", claims, 1],
      ["PutCommand", pets, 1],
    ]);
  });

  it("to get: one consistent read, whether the animal is there or not", async () => {
    const { id } = JSON.parse((await create()).body);
    recorder.take();
    for (const petId of [String(id), "7"]) {
      await getPet(event({ path: { petId } }), context);
      const calls = recorder.take();
      expect(calls).toMatchObject([{ command: "GetCommand", units: 1, input: { ConsistentRead: true } }]);
    }
  });

  /** An empty answer costs DynamoDB as much as a small one, but the embedded store nothing. */
  const addOneOfEach = async () => {
    const { create } = petCreator({ pets, claims }, 1);
    for (const status of statuses) await create({ name: "Rex", categoryId: 1n, status });
    recorder.take();
  };

  it("to list one status: one Query, of one animal more than the page holds", async () => {
    await addOneOfEach();
    await listPets(event({ query: { status: ["sold"], limit: ["5"] } }), context);
    const calls = recorder.take();
    expect(calls).toMatchObject([
      { command: "QueryCommand", units: 0.5, input: { Limit: 6, IndexName: "byStatus" } },
    ]);
  });

  it("to list all: one Query a status, none of which waits for another", async () => {
    await addOneOfEach();
    await listPets(event(), context);
    const calls = recorder.take();
    expect(calls.map(({ command, units }) => [command, units])).toEqual(
      statuses.map(() => ["QueryCommand", 0.5]),
    );
    expect(Math.max(...calls.map(({ started }) => started))).toBeLessThan(
      Math.min(...calls.map(({ answered }) => answered)),
    );
  });

  it("to admit a caller: one consistent read, and none for a key that cannot be one", async () => {
    const key = generateApiKey("staging");
    const details = { name: "test", scopes: ["pets:read" as const], createdAt: Date.now() };
    await keyStore(keys).add(recordOf(key, details));
    recorder.take();
    const admit = async (token: string) => {
      await authorize({
        type: "TOKEN",
        authorizationToken: `Bearer ${token}`,
        methodArn: "arn:aws:execute-api:eu-west-1:123456789012:abc/v1/GET/pets",
      } as APIGatewayTokenAuthorizerEvent);
      return recorder.take();
    };
    for (const known of [key, generateApiKey("staging")]) {
      expect(await admit(known)).toMatchObject([
        {
          command: "GetItemCommand",
          units: 1,
          input: { TableName: keys, ConsistentRead: true, Key: { hash: { S: hashApiKey(known) } } },
        },
      ]);
    }
    expect(await admit(key.slice(0, -1) + (key.endsWith("0") ? "1" : "0"))).toEqual([]);
  });
});
