import { basename } from "node:path";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "@jest/globals";
import { entryPoints } from "../../infra/bundle/options.ts";
import { entryName } from "../../infra/names.ts";
import { generateApiKey, hashApiKey, keyIdOf } from "../../lib/api-key.ts";
import { PAGE_SIZE } from "../../lib/limits.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { PetStatus } from "../../lib/pet.ts";
import { withWrongChecksum } from "../support/api-keys.ts";
import { recordCalls } from "../support/calls.ts";
import { COLLIDING_KEYS } from "../support/colliding-keys.ts";
import { authorizerEvent, context, exampleEvents, requestEvent } from "../support/event.ts";
import { addItems, callFunction } from "../support/items.ts";
import { createOwnTables } from "../support/own-tables.ts";

await createOwnTables();
const takeCalls = recordCalls();
/** The signals of all controllers. The middleware makes the first one of an invocation. */
const signals: AbortSignal[] = [];
globalThis.AbortController = class extends AbortController {
  constructor() {
    super();
    signals.push(this.signal);
  }
};
/** What each function in functions/ exports, and the calls that it makes at its start. */
const starts: { file: string; ready: unknown; calls: ReturnType<typeof takeCalls> }[] = [];
for (const file of entryPoints().map((path) => basename(path))) {
  // The functions read the names of their tables when they start.
  const { ready } = await import(`../../functions/${file}`);
  await Promise.allSettled([ready]);
  starts.push({ file, ready, calls: takeCalls() });
}
const called = new Set(starts.flatMap(({ calls }) => calls.map(({ input }) => String(input.TableName))));
const scans = [...called].map((TableName) => new DynamoDBClient({}).send(new ScanCommand({ TableName })));
const storedByStarts = (await Promise.all(scans)).flatMap(({ Items }) => Items);
const { handler: getPet } = await import("../../functions/get-pet.ts");
const { handler: listPets } = await import("../../functions/list-pets.ts");
const { handler: createPet } = await import("../../functions/create-pet.ts");
const { handler: authorize } = await import("../../functions/authorize.ts");

// A warm-up ignores errors, so a mistake in its call would show only as a slow first request.
it.each(starts)(
  "$file makes calls at its start that DynamoDB understands and that store nothing",
  async ({ ready, calls }) => {
    expect(ready).toBeInstanceOf(Promise); // what its entry awaits
    expect(calls).not.toEqual([]);
    for (const { responded } of calls) expect(responded).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(storedByStarts).toEqual([]);
  },
);

it.each<Operation>(operations)(
  "$id reads no more than a page, and leaves no call behind",
  async (operation) => {
    const start = starts.find(({ file }) => file === `${entryName(operation.id)}.ts`);
    const connected = new Set(start?.calls.map(({ client }) => client));
    // Any request, one with a new key, one whose id is taken, its retry, and one without its item.
    const [first, second] = COLLIDING_KEYS;
    for (const key of [undefined, first, second, second, "without"])
      for (const { what, eventFor } of exampleEvents(operation)) {
        const path = key === "without" ? {} : { path: await addItems(operation.path) };
        const headers = { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) };
        takeCalls();
        signals.length = 0;
        const { statusCode } = await callFunction(
          operation.id,
          eventFor({ ...path, ...(key && { headers }) }),
        );
        if (!key) expect({ what, statusCode }).toEqual({ what, statusCode: operation.success.status });
        const calls = takeCalls();
        expect(calls).not.toEqual([]);
        for (const { command, input, client, signal, responded } of calls) {
          expect(command).toMatch(/^(Get|Put|Update|Delete|Query)Command$/); // a Scan costs more with each item
          if (command === "GetCommand") expect(input).toMatchObject({ ConsistentRead: true });
          if (command === "QueryCommand") expect(input.Limit).toBeLessThanOrEqual(PAGE_SIZE.maximum + 1);
          expect(input).not.toHaveProperty("FilterExpression"); // DynamoDB reads and charges what it leaves out
          expect(connected.has(client)).toBe(true); // by the warm-up
          // Lambda freezes what a function leaves behind, and can continue a write hours later.
          expect(signal === signals[0]).toBe(true);
          expect(responded).toBeLessThan(Number.POSITIVE_INFINITY);
        }
      }
  },
);

describe("a request calls DynamoDB", () => {
  /** What Jest can print of the calls. It cannot print a signal. */
  const made = () => takeCalls().map(({ client, signal, ...call }) => call);
  const [get, put] = [{ command: "GetCommand" }, { command: "PutCommand" }];

  it("to create and to retry: one write, and one more for each taken id", async () => {
    const create = (key: string) =>
      createPet(
        requestEvent({
          headers: { "Content-Type": "application/json", "Idempotency-Key": key },
          body: '{"name":"Rex","categoryId":1}',
        }),
        context,
      );
    const [first, second] = COLLIDING_KEYS;
    for (const key of [first, second]) await create(key);
    takeCalls();
    await create(crypto.randomUUID());
    expect(made()).toMatchObject([put]);
    await create(first);
    await create(second);
    expect(made()).toMatchObject([put, put, put]);
  });

  it("to get: one read, whether or not the pet exists", async () => {
    const path = await addItems("/pets/{petId}");
    takeCalls();
    for (const petId of [path, { petId: "7" }]) await getPet(requestEvent({ path: petId }), context);
    expect(made()).toMatchObject([get, get]);
  });

  it("to list: one Query for each status at once, of one pet beyond the page", async () => {
    takeCalls();
    await listPets(requestEvent({ query: { status: PetStatus.options.slice(0, 1), limit: ["5"] } }), context);
    await listPets(requestEvent({ query: { limit: ["5"] } }), context);
    const query = { command: "QueryCommand", input: { Limit: 6 } };
    const [first, ...calls] = made();
    expect([first, ...calls]).toMatchObject([query, ...PetStatus.options.map(() => query)]);
    const [lastStart, ...responses] = [calls.at(-1)?.started, ...calls.map(({ responded }) => responded)];
    expect(lastStart).toBeLessThan(Math.min(...responses));
  });

  it("to authorize a caller: one consistent read, and none for a malformed key", async () => {
    const key = generateApiKey("staging");
    takeCalls();
    await authorize(authorizerEvent(`Bearer ${key}`));
    const input = { ConsistentRead: true, Key: { keyId: { S: keyIdOf(hashApiKey(key)) } } };
    expect(made()).toMatchObject([{ command: "GetItemCommand", input }]);
    await authorize(authorizerEvent(`Bearer ${withWrongChecksum(key)}`));
    expect(made()).toEqual([]);
  });
});
