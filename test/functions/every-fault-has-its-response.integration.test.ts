import { afterAll, expect, it, jest } from "@jest/globals";
import type { APIGatewayAuthorizerResult, APIGatewayProxyResult } from "aws-lambda";
import { generateApiKey, hashApiKey, newApiKeyRecord } from "../../lib/api-key.ts";
import { apiKeyStore } from "../../lib/dynamo/api-key-store.ts";
import { errorHeaders } from "../../lib/errors.ts";
import type { Operation } from "../../lib/operation.ts";
import { createPet } from "../../lib/operations/create-pet.ts";
import { listPets } from "../../lib/operations/list-pets.ts";
import { operations } from "../../lib/operations.ts";
import { authorizerEvent, context, exampleEvent, exampleEvents } from "../support/event.ts";
import { type Fault, startFaultProxy } from "../support/fault-proxy.ts";
import { addItems } from "../support/items.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { functionNames } from "../support/resources.ts";
import { startFunction } from "../support/start-function.ts";

/** The status and the attempts of a call. What passes by itself is a 503, and the SDK tries most of it three times. */
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
  "request limit exceeded": [503, 3],
  "access denied": [500, 1],
  "table missing": [500, 1],
};
const cases = Object.entries(expected).map(([fault, [status, attempts]]) => ({
  fault: fault as keyof typeof expected,
  status,
  attempts,
}));
// These run beside the others, because they take seconds until the last attempt.
const waits: Fault[] = ["delay", "stall", "throughput exceeded", "throttling", "request limit exceeded"];

const tables = await createOwnTables();
const key = generateApiKey("staging");
const details = { owner: "test", scopes: ["pets:read" as const], createdAt: Date.now() };
await apiKeyStore(tables.API_KEYS_TABLE).add(newApiKeyRecord(key, details));

/** What the functions log. */
const lines: object[] = [];
jest.spyOn(console, "error").mockImplementation((line) => lines.push(line));

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

/** Each example of a request to each operation. */
const examples = operations.flatMap((operation: Operation) =>
  exampleEvents(operation).map((example) => ({ operation, ...example })),
);

/** Returns a function that sends examples at once. Each has items of its own. */
async function prepare(call: Functions["call"], sent: typeof examples) {
  const prepared = sent.map(async ({ operation, what, eventFor }) => {
    const path = await addItems(operation.path, call).catch(({ message }) => {
      throw new Error(`${message}, after this line of the log: ${JSON.stringify(lines.at(-1))}`);
    });
    const event = eventFor({ path });
    return async () => {
      const response = await call(operation.id, event);
      const { statusCode } = response;
      const outcome = statusCode < 500 ? statusCode : { statusCode, logged: lines.at(-1) };
      return { request: `${operation.id} with ${what}`, operation, response, outcome };
    };
  });
  const sends = await Promise.all(prepared);
  return () => Promise.all(sends.map((send) => send()));
}

/** Returns what functions do during a fault and after it. */
async function run({ fault, status, attempts }: (typeof cases)[number], functions: Functions) {
  const { proxy, call, authorize } = functions;
  const plain = examples.filter(({ what }) => what === "none");
  const send = await prepare(call, plain);
  await proxy.set(fault);
  const [during, decision] = await Promise.all([send(), authorize().catch((thrown: unknown) => thrown)]);
  const made = proxy.attempts();
  await proxy.set(undefined);
  const sendAll = await prepare(call, examples);
  // What the SDK repeats meets the first attempt of each call. The rest has ended.
  await proxy.set(attempts > 1 ? fault : undefined, ({ attempt }) => attempt === 1);
  const [after, policy] = await Promise.all([sendAll(), authorize()]);
  return { fault, status, attempts, during, decision, made, after, policy };
}

const runs: ReturnType<typeof run>[] = [];
for (const one of cases) {
  // The endpoint of a function is in the environment while it starts.
  runs.push(run(one, await startFunctions()));
  if (!waits.includes(one.fault)) await runs.at(-1);
}
const results = await Promise.all(runs);

const byFunction = (attempts: number) => Object.fromEntries(functionNames.map((name) => [name, attempts]));

it.each(results)(
  "with $fault, every function returns a $status after $attempts attempts",
  ({ status, attempts, during, decision, made }) => {
    expect({ ...byFunction(0), ...made }).toEqual(byFunction(attempts));
    const code = status === 503 ? "unavailable" : "internal_error";
    const retry = errorHeaders(code)["Retry-After"];
    const responses = during.map(({ request, response: { statusCode, headers, body } }) => {
      return { request, statusCode, retry: headers?.["Retry-After"], code: JSON.parse(body).code };
    });
    const expected = { statusCode: status, retry, code };
    expect(responses).toEqual(during.map(({ request }) => ({ request, ...expected })));
    // Neither an Allow nor a Deny: API Gateway would cache both.
    expect(decision).toEqual(new Error("The keys cannot be read."));
  },
);

it.each(results)(
  "every operation succeeds after $fault, and if only first attempts meet it",
  ({ after, policy }) => {
    expect(Object.fromEntries(after.map(({ request, outcome }) => [request, outcome]))).toEqual(
      Object.fromEntries(after.map(({ request, operation }) => [request, operation.success.status])),
    );
    expect(policy.policyDocument.Statement[0]?.Effect).toBe("Allow");
  },
);

it("logs no key and no value", () => {
  expect(lines.length).toBeGreaterThanOrEqual(cases.length * functionNames.length);
  const logged = JSON.stringify(lines);
  for (const text of [key, hashApiKey(key), "Rex", "sold"]) expect(logged).not.toContain(text);
});

it("an empty response is a 503, for a refused write and a list", async () => {
  const { proxy, call } = await startFunctions();
  const event = exampleEvent(createPet, {}, ["Idempotency-Key"]);
  expect(await call("createPet", event)).toMatchObject({ statusCode: 201 });
  await proxy.set("empty");
  const responses = await Promise.all([call("createPet", event), call("listPets", exampleEvent(listPets))]);
  expect(responses.map(({ statusCode }) => statusCode)).toEqual([503, 503]);
});
