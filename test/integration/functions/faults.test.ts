import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from "@jest/globals";
import type { APIGatewayProxyResult } from "aws-lambda";
import { entryName } from "../../../infra/bundle/options.ts";
import { generateApiKey, hashApiKey, newApiKeyRecord } from "../../../lib/api-key.ts";
import { listPets, type Operation, operations } from "../../../lib/operations.ts";
import { authorizerEvent, context, exampleEvent, requestEvent } from "../../support/event.ts";
import { eventually } from "../../support/eventually.ts";
import { type Fault, startFaultProxy } from "../../support/fault-proxy.ts";
import { createOwnTables } from "../../support/own-tables.ts";
import { countNamed } from "../../support/pets.ts";

const tables = await createOwnTables();
// The functions make their clients when they are imported, so the proxy has to start first.
const proxy = await startFaultProxy(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "");
process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.endpoint;
const handlers = new Map<Operation, (event: object, context: object) => Promise<APIGatewayProxyResult>>();
for (const operation of operations)
  handlers.set(operation, (await import(`../../../functions/${entryName(operation.id)}.ts`)).handler);
const { handler: createPet } = await import("../../../functions/create-pet.ts");
const { handler: authorizer } = await import("../../../functions/authorize.ts");
const { dynamoClient } = await import("../../../lib/dynamo/client.ts");
const { apiKeyStore } = await import("../../../lib/dynamo/api-key-store.ts");
const { creationStore, petLister } = await import("../../../lib/dynamo/pet-store.ts");

/** The status and the attempts. What passes by itself is a 503, and the SDK tries most of it three times. */
const expected: Record<Exclude<Fault, "empty">, [status: 500 | 503, attempts: number]> = {
  refuse: [503, 0],
  reset: [503, 3],
  delay: [503, 3],
  stall: [503, 3],
  malformed: [503, 1],
  truncated: [503, 3],
  lost: [503, 3],
  "internal error": [503, 3],
  "throughput exceeded": [503, 3],
  throttling: [503, 3],
  "write conflict": [503, 3],
  "item collection full": [503, 1],
  "access denied": [500, 1],
  "table missing": [500, 1],
};
const cases = Object.entries(expected).map(([fault, row]) => [fault as Fault, ...row] as const);

const key = generateApiKey("staging");
const petOf = (name: string) => ({ name, categoryId: 1, status: "sold" as const });
const create = (name: string, headers = {}) =>
  createPet(
    requestEvent({
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(petOf(name)),
    }),
    context,
  );
const store = creationStore(tables, 1);

/** Returns the id of a new pet. On a busy machine, the store can respond too late. */
async function addPet(): Promise<string> {
  const add = () => store.create({ ...petOf("Rex"), categoryId: 1n }).catch(() => undefined);
  return String((await eventually(add, (pet) => expect(pet).toBeDefined()))?.id);
}

/**
 * Returns a function that sends a valid request to every operation at once. Each has a pet of its own, and calls DynamoDB
 * once: the list is that of one status, which the others ignore (contract 3.7).
 *
 * @param name of the pet that is created
 */
async function requests(name: string) {
  const prepared: (() => Promise<APIGatewayProxyResult>)[] = [];
  for (const [operation, handler] of handlers) {
    const petId = operation.params ? await addPet() : "";
    const query = { status: ["sold"], limit: ["1"] };
    const body = operation.id === "createPet" && { body: JSON.stringify(petOf(name)) };
    const event = exampleEvent(operation, petId, { query, ...body });
    prepared.push(() => handler(event, context));
  }
  return () => Promise.all(prepared.map((send) => send()));
}

const authorize = () => authorizer(authorizerEvent(`Bearer ${key}`));
const count = (name: string) => countNamed(petLister(tables.pets, 1), name);

const error = jest.spyOn(console, "error").mockImplementation(() => undefined);
beforeEach(async () => {
  error.mockClear();
  await proxy.set(undefined);
});

beforeAll(async () => {
  const details = { owner: "test", scopes: ["pets:read" as const], createdAt: Date.now() };
  await apiKeyStore(tables.keys).add(newApiKeyRecord(key, details));
});

afterAll(() => proxy.close());

describe("while the table fails", () => {
  it.each(cases)(
    "with '%s', every function returns a %d after %d attempts, and works again afterwards",
    async (fault, status, attempts) => {
      const name = `During ${fault}`;
      const send = await requests(name);
      await proxy.set(fault);
      const [responses, decision] = await Promise.all([
        send(),
        authorize().catch((thrown: unknown) => thrown),
      ]);
      expect(proxy.requests()).toBe((operations.length + 1) * attempts);

      const code = status === 503 ? "unavailable" : "internal_error";
      for (const { statusCode, headers, body } of responses) {
        expect(JSON.parse(body)).toMatchObject({ code, status });
        expect([statusCode, headers?.["Retry-After"]]).toEqual([status, status === 503 ? "1" : undefined]);
      }
      // Neither an Allow nor a Deny: API Gateway would cache both.
      expect(decision).toEqual(new Error("The keys cannot be read."));
      // One line for each function, with the failure of the call and without a key or a value.
      const lines = error.mock.calls.map(([line]) => line);
      const failure = { name: "ApiError", code, cause: { name: expect.any(String) } };
      for (const line of lines) expect(line).toMatchObject({ error: failure });
      expect(lines.map(({ operation }) => operation).sort()).toEqual(
        ["authorize", ...operations.map(({ id }) => id)].sort(),
      );
      const logged = JSON.stringify(lines);
      for (const text of [key, hashApiKey(key), "During", "sold"]) expect(logged).not.toContain(text);

      await proxy.set(undefined);
      const after = await (await requests(`After ${fault}`))();
      expect(after.map(({ statusCode }) => statusCode)).toEqual(
        operations.map(({ success }) => success.status),
      );
      expect((await authorize()).policyDocument.Statement[0]?.Effect).toBe("Allow");
      // The client got an error. The pet can be stored all the same, but never twice.
      expect(await count(name)).toBeLessThanOrEqual(1);
      if (fault === "lost") expect(await count(name)).toBe(1);
    },
  );
});

describe("a response that cannot be read is a 503", () => {
  it.each(["stall", "malformed", "truncated", "empty"] as const)(
    "with '%s', when a condition failed",
    async (fault) => {
      const key = { "Idempotency-Key": fault };
      await create("Rex", key);
      await proxy.set(fault);
      const { statusCode } = await create("Rex", key);
      await proxy.set(undefined);
      expect(statusCode).toBe(503);
    },
  );

  it("with 'empty', when a list was read", async () => {
    await proxy.set("empty");
    const response = await handlers.get(listPets)?.(requestEvent({}), context);
    await proxy.set(undefined);
    expect(response?.statusCode).toBe(503);
  });
});

it("an error before a request is sent is reported like a lost connection", async () => {
  const client = dynamoClient();
  client.middlewareStack.add(() => () => Promise.reject(new Error("no credentials")), { step: "build" });
  await expect(client.send(new ListTablesCommand())).rejects.toMatchObject({ code: "unavailable" });
});

describe("when only the first attempt fails", () => {
  it.each(["reset", "delay", "stall", "lost", "throttling", "internal error", "truncated"] as const)(
    "with '%s', the pet is added once, and the client sees no error",
    async (fault) => {
      await proxy.set(fault, 1);
      const { statusCode } = await create(`Once ${fault}`);
      await proxy.set(undefined);
      expect(statusCode).toBe(201);
      expect(await count(`Once ${fault}`)).toBe(1);
    },
  );
});
