import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { generateApiKey, recordOf } from "../../../lib/api-key.ts";
import { encodeCursor } from "../../../lib/cursor.ts";
import { authorizerEvent, context, requestEvent } from "../../support/event.ts";
import { type Fault, startFaultProxy } from "../../support/fault-proxy.ts";
import { ownTables } from "../../support/own-tables.ts";
import { countNamed } from "../../support/pets.ts";

const tables = await ownTables();
// The functions make their clients when they are imported, so the proxy has to start first.
const proxy = await startFaultProxy(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "");
process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.endpoint;
const { handler: listPets } = await import("../../../functions/list-pets.ts");
const { handler: createPet } = await import("../../../functions/create-pet.ts");
const { handler: getPet } = await import("../../../functions/get-pet.ts");
const { handler: authorizer } = await import("../../../functions/authorize.ts");
const { dynamoClient } = await import("../../../lib/dynamo/client.ts");
const { keyStore } = await import("../../../lib/dynamo/key-store.ts");
const { petLister } = await import("../../../lib/dynamo/pet-store.ts");

/** What passes by itself is a 503, and the SDK tries most of it three times (lib/dynamo/client.ts). */
const expected: Record<Fault, { status: 500 | 503; attempts: number }> = {
  refuse: { status: 503, attempts: 0 },
  reset: { status: 503, attempts: 3 },
  delay: { status: 503, attempts: 3 },
  stall: { status: 503, attempts: 3 },
  malformed: { status: 503, attempts: 1 },
  truncated: { status: 503, attempts: 3 },
  lost: { status: 503, attempts: 3 },
  "internal error": { status: 503, attempts: 3 },
  "throughput exceeded": { status: 503, attempts: 3 },
  throttling: { status: 503, attempts: 3 },
  "write conflict": { status: 503, attempts: 3 },
  "item collection full": { status: 503, attempts: 1 },
  "access denied": { status: 500, attempts: 1 },
  "table missing": { status: 500, attempts: 1 },
};

const key = generateApiKey("staging");
let start: string;
let petId: string;

const create = (name: string) =>
  createPet(requestEvent({ body: JSON.stringify({ name, categoryId: 1, status: "sold" }) }), context);
const list = () =>
  listPets(requestEvent({ query: { status: ["sold"], limit: ["100"], cursor: [start] } }), context);
const get = () => getPet(requestEvent({ path: { petId } }), context);
const authorize = () => authorizer(authorizerEvent(`Bearer ${key}`));
const count = (name: string) => countNamed(petLister(tables.pets, 1), name);

const error = jest.spyOn(console, "error").mockImplementation(() => undefined);
beforeEach(() => {
  error.mockClear();
});

beforeAll(async () => {
  const details = { name: "test", scopes: ["pets:read" as const], createdAt: Date.now() };
  await keyStore(tables.keys).add(recordOf(key, details));
  petId = String(JSON.parse((await create("first")).body).id);
  start = encodeCursor(BigInt(petId) - 1n);
});

afterAll(() => proxy.close());

describe("while the table fails", () => {
  it.each(Object.keys(expected) as Fault[])(
    "with '%s', every function reports it, and works again afterwards",
    async (fault) => {
      const { status, attempts } = expected[fault];
      const name = `During ${fault}`;
      await proxy.set(fault);
      const [responses, decision] = await Promise.all([
        Promise.all([create(name), list(), get()]),
        authorize().catch((thrown: unknown) => thrown),
      ]);
      expect(proxy.requests()).toBe(4 * attempts);

      const code = status === 503 ? "unavailable" : "internal_error";
      for (const response of responses) {
        expect(JSON.parse(response.body)).toEqual({ code, status, message: expect.any(String) });
        expect(response.statusCode).toBe(status);
        expect(response.headers?.["Retry-After"]).toBe(status === 503 ? "1" : undefined);
      }
      // Neither an Allow nor a Deny: API Gateway would cache both.
      expect(decision).toEqual(new Error("The keys cannot be read."));
      // One line for each function, with the failure of the call and without a key or a value.
      expect(error).toHaveBeenCalledTimes(4);
      for (const [line] of error.mock.calls) {
        expect(line).toMatchObject({
          error: { name: "ApiError", code, cause: { name: expect.any(String) } },
        });
      }
      const logged = JSON.stringify(error.mock.calls);
      for (const text of [key, "During", "sold"]) expect(logged).not.toContain(text);

      await proxy.set(undefined);
      const after = await Promise.all([create(`After ${fault}`), list(), get()]);
      expect(after.map(({ statusCode }) => statusCode)).toEqual([201, 200, 200]);
      expect((await authorize()).policyDocument.Statement[0]?.Effect).toBe("Allow");
      // The client got an error. The pet can be stored all the same, but never twice.
      expect(await count(name)).toBeLessThanOrEqual(1);
      if (fault === "lost") expect(await count(name)).toBe(1);
    },
  );
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
