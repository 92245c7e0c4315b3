import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import type { APIGatewayProxyResult, APIGatewayTokenAuthorizerEvent } from "aws-lambda";
import { generateApiKey, recordOf } from "../../lib/api-key.ts";
import { encodeCursor } from "../../lib/cursor.ts";
import { context, event } from "../support/event.ts";
import { faults, startFaultProxy } from "../support/fault-proxy.ts";

// The clients of the functions are made when these are imported, so the proxy has to be there first.
const proxy = await startFaultProxy(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "");
process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.endpoint;
const { handler: listPets } = await import("../../functions/list-pets.ts");
const { handler: createPet } = await import("../../functions/create-pet.ts");
const { handler: getPet } = await import("../../functions/get-pet.ts");
const { handler: authorizer } = await import("../../functions/authorize.ts");
const { keyStore } = await import("../../lib/dynamo/key-store.ts");

/** The functions' timeout (infra/api-function.ts), in milliseconds. */
const BUDGET = 6000;

const error = jest.spyOn(console, "error").mockImplementation(() => undefined);
jest.spyOn(console, "info").mockImplementation(() => undefined);

const key = generateApiKey("staging");
let start: string;
let petId: string;

const create = (name: string) =>
  createPet(event({ body: JSON.stringify({ name, categoryId: 1, status: "sold" }) }), context);
const list = (cursor: string) =>
  listPets(event({ query: { status: ["sold"], limit: ["100"], cursor: [cursor] } }), context);
const get = () => getPet(event({ path: { petId } }), context);
const authorize = () =>
  authorizer({
    type: "TOKEN",
    authorizationToken: `Bearer ${key}`,
    methodArn: "arn:aws:execute-api:eu-west-1:123456789012:abc/v1/GET/pets",
  } as APIGatewayTokenAuthorizerEvent);

/** How many animals have this name, among those that these tests have added. */
async function count(name: string): Promise<number> {
  let found = 0;
  for (let cursor: string | undefined = start; cursor; ) {
    const { body, headers }: APIGatewayProxyResult = await list(cursor);
    found += (JSON.parse(body) as { name: string }[]).filter((pet) => pet.name === name).length;
    cursor = /cursor=([\w-]+)/.exec(String(headers?.Link ?? ""))?.[1];
  }
  return found;
}

const timed = async <T>(work: Promise<T>) => {
  const began = performance.now();
  const result = await work;
  return { result, took: performance.now() - began };
};

beforeAll(async () => {
  const details = { name: "test", scopes: ["pets:read" as const], createdAt: Date.now() };
  await keyStore(process.env.KEYS_TABLE ?? "").add(recordOf(key, details));
  petId = String(JSON.parse((await create("first")).body).id);
  start = encodeCursor(BigInt(petId) - 1n);
});

afterAll(() => proxy.close());

describe("while the table fails", () => {
  it.each(faults)("with '%s', every function says so in time, and works again after it", async (fault) => {
    const name = `During ${fault}`;
    await proxy.set(fault);
    const [answers, decision] = await Promise.all([
      Promise.all([create(name), list(start), get()].map(timed)),
      timed(
        authorize().then(
          (policy) => policy,
          (thrown: Error) => thrown,
        ),
      ),
    ]);
    expect(proxy.requests() > 0).toBe(fault !== "refuse");

    for (const { result, took } of answers) {
      const { code, status, ...rest } = JSON.parse(result.body);
      expect([code, status]).toEqual(
        status === 503 ? ["unavailable", result.statusCode] : ["internal_error", 500],
      );
      expect(result.statusCode).toBe(status);
      expect(rest).toEqual({ message: expect.any(String) });
      expect(result.headers?.["Retry-After"]).toBe(status === 503 ? "1" : undefined);
      expect(took).toBeLessThan(BUDGET);
    }
    // Neither leave nor a denial: API Gateway would remember both.
    expect(decision.result).toEqual(new Error("The keys cannot be read."));
    expect(decision.took).toBeLessThan(BUDGET);

    await proxy.set(undefined);
    const after = await Promise.all([create(`After ${fault}`), list(start), get()]);
    expect(after.map(({ statusCode }) => statusCode)).toEqual([201, 200, 200]);
    expect((await authorize()).policyDocument.Statement[0]?.Effect).toBe("Allow");
    // The client was told that it failed. It may be there all the same, but never twice.
    expect(await count(name)).toBeLessThanOrEqual(1);
    if (fault === "lost") expect(await count(name)).toBe(1);
  });

  it("logs no key and no value", () => {
    expect(error).toHaveBeenCalled();
    expect(JSON.stringify(error.mock.calls)).not.toMatch(/ask_staging|During|sold/);
  });
});

describe("when only the first attempt fails", () => {
  it.each(["reset", "delay", "stall", "lost", "throttling", "internal error", "truncated"] as const)(
    "with '%s', the animal is added once, and the client sees nothing of it",
    async (fault) => {
      await proxy.set(fault, 1);
      const { statusCode } = await create(`Once ${fault}`);
      await proxy.set(undefined);
      expect(statusCode).toBe(201);
      expect(await count(`Once ${fault}`)).toBe(1);
    },
  );
});
