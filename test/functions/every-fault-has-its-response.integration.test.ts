import { afterAll, beforeAll, expect, it, jest } from "@jest/globals";
import type { APIGatewayAuthorizerResult, APIGatewayProxyResult } from "aws-lambda";
import { generateApiKey, hashApiKey, newApiKeyRecord } from "../../lib/api-key.ts";
import { apiKeyStore } from "../../lib/dynamo/api-key-store.ts";
import { petLister } from "../../lib/dynamo/pet-store.ts";
import { errorHeaders } from "../../lib/errors.ts";
import type { Operation } from "../../lib/operation.ts";
import { createPet } from "../../lib/operations/create-pet.ts";
import { listPets } from "../../lib/operations/list-pets.ts";
import { operations } from "../../lib/operations.ts";
import { authorizerEvent, context, exampleEvent } from "../support/event.ts";
import { eventually } from "../support/eventually.ts";
import { type Fault, startFaultProxy } from "../support/fault-proxy.ts";
import { addItems } from "../support/items.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { listAll } from "../support/pets.ts";
import { functionNames } from "../support/resources.ts";
import { startFunction } from "../support/start-function.ts";

/** The status and the number of attempts. What passes by itself is a 503, and the SDK tries most of it three times. */
const expected: Record<Exclude<Fault, "empty" | "repeated" | "without the item">, [500 | 503, number]> = {
  refuse: [503, 0],
  reset: [503, 3],
  delay: [503, 3],
  stall: [503, 3],
  malformed: [503, 1],
  truncated: [503, 3],
  lost: [503, 3],
  late: [503, 3],
  "internal error": [503, 3],
  "throughput exceeded": [503, 3],
  throttling: [503, 3],
  "write conflict": [503, 3],
  "item collection full": [503, 1],
  "access denied": [500, 1],
  "table missing": [500, 1],
};
const cases = Object.entries(expected).map(([fault, [status, attempts]]) => ({
  fault: fault as keyof typeof expected,
  status,
  attempts,
}));
// These run at once, because they take seconds until the last attempt.
const waits: Fault[] = ["delay", "stall", "throughput exceeded", "throttling"];

const tables = await createOwnTables();
const count = async (name: string) => {
  const pets = await listAll(petLister(tables.petsTable), { limit: 2000 });
  return pets.filter((pet) => pet.name === name).length;
};
const key = generateApiKey("staging");

const proxies: Awaited<ReturnType<typeof startFaultProxy>>[] = [];
afterAll(() => Promise.all(proxies.map(({ close }) => close())));

/** Starts functions that call the store through a proxy of their own. */
async function startFunctions() {
  const { AWS_ENDPOINT_URL_DYNAMODB: endpoint = "" } = process.env;
  const proxy = await startFaultProxy(endpoint);
  proxies.push(proxy);
  const handlers = new Map();
  for (const id of functionNames) handlers.set(id, await startFunction(id, `${proxy.endpoint}/${id}`));
  return {
    proxy,
    call: (id: Operation["id"], event: object): Promise<APIGatewayProxyResult> =>
      handlers.get(id)(event, context),
    authorize: (): Promise<APIGatewayAuthorizerResult> =>
      handlers.get("authorize")(authorizerEvent(`Bearer ${key}`)),
  };
}

type Functions = Awaited<ReturnType<typeof startFunctions>>;
/** What the functions do during a fault and after it. */
const runs = new Map<Fault, ReturnType<typeof runWithFault>>();

beforeAll(async () => {
  const details = { owner: "test", scopes: ["pets:read" as const], createdAt: Date.now() };
  await apiKeyStore(tables.apiKeysTable).add(newApiKeyRecord(key, details));
  for (const { fault } of cases) {
    const run = runWithFault(fault, await startFunctions());
    runs.set(fault, run);
    await Promise.allSettled(waits.includes(fault) ? [] : [run]);
  }
  await Promise.allSettled(runs.values());
});

/**
 * Returns a function that sends a valid request to each operation at once. Each has items of its own, and calls DynamoDB
 * once: the list is that of one status, which the others ignore (contract 3.7).
 *
 * @param name of the pet that is created
 */
async function requests(call: Functions["call"], name: string) {
  const prepared = operations.map(async (operation: Operation) => {
    // On a busy machine, the store can respond too late.
    const add = () => addItems(operation.path, call).catch(() => undefined);
    const path = (await eventually(add, (ids) => expect(ids).toBeDefined())) ?? {};
    const query = { status: ["sold"], limit: ["1"] };
    const pet = JSON.stringify({ name, categoryId: 1, status: "sold" });
    const body = operation.id === createPet.id && { body: pet };
    return { id: operation.id, event: exampleEvent(operation, { path, query, ...body }) };
  });
  const sent = await Promise.all(prepared);
  return () => Promise.all(sent.map(({ id, event }) => call(id, event)));
}

/** What the functions log. */
const lines: unknown[] = [];
jest.spyOn(console, "error").mockImplementation((line) => lines.push(line));

async function runWithFault(fault: Fault, { proxy, call, authorize }: Functions) {
  const name = `During ${fault}, of all operations`;
  const send = await requests(call, name);
  await proxy.set(fault);
  const [responses, decision] = await Promise.all([send(), authorize().catch((thrown: unknown) => thrown)]);
  const attempts = proxy.requests();
  await proxy.set(undefined);
  const after = await (await requests(call, `After ${fault}`))();
  const policy = (await authorize()).policyDocument;
  return { responses, decision, attempts, after, policy, added: await count(name) };
}

const byFunction = (attempts: number) => Object.fromEntries(functionNames.map((name) => [name, attempts]));

it.each(cases)(
  "with $fault, every function returns a $status after $attempts attempts",
  async ({ fault, status, attempts }) => {
    const run = await runs.get(fault);
    expect({ ...byFunction(0), ...run?.attempts }).toEqual(byFunction(attempts));
    const code = status === 503 ? "unavailable" : "internal_error";
    const retry = errorHeaders(code)["Retry-After"];
    const responses = run?.responses.map(({ statusCode, headers, body }) => {
      return { statusCode, retry: headers?.["Retry-After"], code: JSON.parse(body).code };
    });
    expect(responses).toEqual(operations.map(() => ({ statusCode: status, retry, code })));
    // Neither an Allow nor a Deny: API Gateway would cache both.
    expect(run?.decision).toEqual(new Error("The keys cannot be read."));
  },
);

it.each(cases)(
  "after $fault, every function works again, and createPet has added at most one pet",
  async ({ fault }) => {
    const { after = [], policy, added = 2 } = (await runs.get(fault)) ?? {};
    expect(after.map(({ statusCode }) => statusCode)).toEqual(
      operations.map(({ success }) => success.status),
    );
    expect(policy?.Statement[0]?.Effect).toBe("Allow");
    // A lost response does not undo the work.
    expect({ added }).toEqual({ added: ["lost", "late"].includes(fault) ? 1 : Math.min(added, 1) });
  },
);

it("logs no key and no value", () => {
  expect(lines.length).toBeGreaterThanOrEqual(cases.length * functionNames.length);
  const logged = JSON.stringify(lines);
  for (const text of [key, hashApiKey(key), "During", "sold"]) expect(logged).not.toContain(text);
});

it("an empty response is a 503, for a refused write and a list", async () => {
  const { proxy, call } = await startFunctions();
  const event = exampleEvent(createPet, {}, ["Idempotency-Key"]);
  expect(await call("createPet", event)).toMatchObject({ statusCode: 201 });
  await proxy.set("empty");
  const responses = await Promise.all([call("createPet", event), call("listPets", exampleEvent(listPets))]);
  expect(responses.map(({ statusCode }) => statusCode)).toEqual([503, 503]);
});
