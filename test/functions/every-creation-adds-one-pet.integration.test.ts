import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, expect, it, jest } from "@jest/globals";
import { ATTEMPTS } from "../../lib/dynamo/client.ts";
import { MAX_ID_ATTEMPTS, ORDER_ATTRIBUTE, petLister } from "../../lib/dynamo/pet-store.ts";
import { parseJson } from "../../lib/http/json.ts";
import type { Pet } from "../../lib/pet.ts";
import { deletePet } from "../support/deletion.ts";
import { context, requestEvent } from "../support/event.ts";
import { type Fault, startFaultProxy } from "../support/fault-proxy.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { COLLIDING_KEYS, listAll } from "../support/pets.ts";
import { startFunction } from "../support/start-function.ts";

// docs/decisions/one-write.md: an id goes from free to the pet of one creation, and from there to the retired id of the same
// creation, never back and never to another one. Here, each fault meets the one write of createPet in each story.

/** A fault of each effect on a write. The others wait, or have the effect of one of these. */
const faults: Fault[] = [
  "internal error", // the write was not executed, and the SDK repeats it
  "access denied", // it was not executed, and the client has to repeat it
  "lost", // it was executed, and the SDK repeats it
  "reset",
  "malformed", // it was executed, and the client has to repeat it
  "late",
  "repeated",
  "empty", // a refusal is not recognized
  "without the item",
];
/** Without an Idempotency-Key, only the SDK can repeat a write. */
const repeatedBySdk: Fault[] = ["internal error", "lost", "late", "repeated"];

const tables = await createOwnTables();
const { AWS_ENDPOINT_URL_DYNAMODB: endpoint = "" } = process.env;
const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
jest.spyOn(console, "error").mockImplementation(() => undefined); // the functions log the faults

type Handler = Awaited<ReturnType<typeof startFunction>>;
const [getPet, restarted]: Handler[] = [await startFunction("getPet"), await startFunction("createPet")];

const proxies: Awaited<ReturnType<typeof startFaultProxy>>[] = [];
afterAll(() => Promise.all(proxies.map(({ close }) => close())));

/** Starts a function that calls the store through a proxy of its own. */
async function startBehindProxy() {
  const proxy = await startFaultProxy(endpoint);
  proxies.push(proxy);
  return { proxy, createPet: (await startFunction("createPet", proxy.endpoint)) as Handler };
}

interface Request {
  name: string;
  /** the Idempotency-Key, if the request has one */
  key: string | undefined;
  keyId?: string;
}

/** Sends a request, and repeats it after a 5xx as a client can: only with an Idempotency-Key. */
async function send(createPet: Handler, { name, key, keyId = "key_test" }: Request) {
  const event = requestEvent({
    headers: { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) },
    body: JSON.stringify({ name, categoryId: 1, status: "sold" }),
    authorizer: { keyId, scopes: "pets:write" },
  });
  for (let tries = key ? ATTEMPTS + 1 : 1; ; tries--) {
    const { statusCode, body } = await createPet(event, context);
    if (statusCode < 500 || tries === 1) return { status: statusCode as number, pet: parseJson(body) as Pet };
  }
}

type Client = ReturnType<typeof newClient>;

/** A client with pets of its own, whose next calls of the store meet a fault. */
function newClient(
  { proxy, createPet }: Awaited<ReturnType<typeof startBehindProxy>>,
  fault: Fault,
  keyed: boolean,
) {
  const request: Request = { name: randomUUID(), key: keyed ? randomUUID() : undefined };
  const replies: { sent: Request; status: number; pet: Pet }[] = [];
  return {
    request,
    replies,
    /** the ids that another creation took before this client */
    taken: new Set<string>(),
    deleted: new Set<bigint>(),
    add: async (parts: Partial<Request> = {}): Promise<void> => {
      const sent = { ...request, ...parts };
      replies.push({ sent, ...(await send(createPet, sent)) });
    },
    /** The fault affects the first attempt without an Idempotency-Key, so that it can succeed. Otherwise it affects all. */
    fail: () => proxy.set(fault, keyed ? ATTEMPTS : 1),
    heal: () => proxy.set(undefined),
    /** Calls a function with the id of each write before the write is executed. */
    beforeEach: (hook: (id: string, nth: number) => unknown) =>
      proxy.beforeEach(({ Item }, nth) => hook(Item?.id.N, nth)),
  };
}

/** Another creation takes the first ids that the client tries. */
function take(count: number, item: object) {
  return async ({ add, beforeEach, taken }: Client) => {
    beforeEach(async (id) => {
      if (taken.size === count || taken.has(id)) return;
      taken.add(id);
      const Item = { ...item, id: BigInt(id), creationId: "another" };
      await table.send(new PutCommand({ TableName: tables.pets, Item }));
    });
    await add();
  };
}

/** Something happens to the pet before each attempt but the first one, and then before a retry. */
function between(happen: (client: Client, id: bigint) => Promise<unknown>) {
  return async (client: Client) => {
    client.beforeEach((id, nth) => nth > 1 && happen(client, BigInt(id)));
    await client.add();
    if (!client.request.key) return;
    const [{ pet } = { pet: { id: 0n } }] = client.replies;
    await happen(client, pet.id);
    await client.add();
  };
}

const otherPet = { name: "Other", categoryId: 1n, status: "sold", [ORDER_ATTRIBUTE]: 1n };
const retiredId = { fingerprint: "-", deletionId: "-" };

const stories: Record<string, (client: Client) => Promise<unknown>> = {
  "a request": ({ add }) => add(),
  "a request and a retry, which meets the fault again": async ({ add, fail }) => {
    await add();
    await fail();
    await add();
  },
  "a request that arrives twice at once": ({ add }) => Promise.all([add(), add()]),
  "requests for two pets at once": ({ add }) => Promise.all([add(), add({ name: randomUUID() })]),
  "requests with two API keys at once": ({ add }) => Promise.all([add(), add({ keyId: "key_other" })]),
  "a pet that is deleted": between(
    async ({ deleted }, id) => (await deletePet(table, tables.pets, id)) && deleted.add(id),
  ),
};
for (const count of [1, 2, MAX_ID_ATTEMPTS]) {
  stories[`${count} ids that other pets have`] = take(count, otherPet);
  stories[`${count} ids that are retired`] = take(count, retiredId);
}

/** Returns all pets by id, and expects each once. */
async function listed(pets = tables.pets): Promise<Map<bigint, Pet>> {
  const all = await listAll(petLister(pets), { limit: 2000 });
  const byId = new Map(all.map((pet) => [pet.id, pet]));
  expect(byId.size).toBe(all.length);
  return byId;
}

async function check({ request, replies, taken, deleted }: Client, list: Map<bigint, Pet>) {
  for (const id of taken) {
    const { Item } = await table.send(new GetCommand({ TableName: tables.pets, Key: { id: BigInt(id) } }));
    expect(Item).toMatchObject({ creationId: "another" });
  }
  const added = replies.filter(({ status }) => status === 201);
  const idOf = ({ sent, pet }: Client["replies"][number]) =>
    added.find((other) => sent.key && other.sent.keyId === sent.keyId)?.pet.id ?? pet.id;
  for (const reply of added) {
    const { sent, pet } = reply;
    expect(pet).toEqual({ id: idOf(reply), name: sent.name, categoryId: 1n, status: "sold" });
    const { statusCode, body } = await getPet(requestEvent({ path: { petId: String(pet.id) } }), context);
    if (deleted.has(pet.id)) expect([statusCode, list.get(pet.id)]).toEqual([404, undefined]);
    else expect([statusCode, parseJson(body), list.get(pet.id)]).toEqual([200, pet, pet]);
  }
  const failed = replies.filter(({ status }) => status >= 500);
  const unknown = [...list.values()].filter(
    ({ id, name }) =>
      replies.some(({ sent }) => sent.name === name) && !added.some(({ pet }) => pet.id === id),
  );
  // Without an Idempotency-Key, a client does not learn what a request that failed has added.
  expect(unknown.length).toBeLessThanOrEqual(request.key ? 0 : failed.length);
  if (taken.size === MAX_ID_ATTEMPTS) expect(added).toEqual([]);
  else if (request.key) expect(failed).toEqual([]);
  for (const reply of replies.filter(({ status }) => status < 500 && status !== 201)) {
    expect([reply.status, list.get(idOf(reply))?.name]).toEqual([422, expect.anything()]);
    expect(list.get(idOf(reply))?.name).not.toBe(reply.sent.name);
  }
}

const servers: [Awaited<ReturnType<typeof startBehindProxy>>, Fault, keyed: boolean][] = [];
for (const fault of faults) servers.push([await startBehindProxy(), fault, true]);
for (const fault of repeatedBySdk) servers.push([await startBehindProxy(), fault, false]);

it.each(Object.entries(stories))(
  "%s, with each fault: one pet for each creation, also after a restart",
  async (_, happen) => {
    const running = servers.map(async (server) => {
      const client = newClient(...server);
      client.beforeEach(() => undefined);
      await client.fail();
      await happen(client);
      await client.heal();
      return client;
    });
    const done = await Promise.all(running);
    const list = await listed();
    for (const client of done) await check(client, list);
    for (const { sent, status, pet } of done.flatMap(({ replies }) => replies))
      if (sent.key) expect(await send(restarted, sent)).toEqual({ status, pet });
    expect(await listed()).toEqual(list);
  },
);

it.each(faults)("two creations with the same first id add two pets, with the fault %s", async (fault) => {
  const { pets } = await createOwnTables();
  const { proxy, createPet } = await startBehindProxy();
  await proxy.set(fault, 1);
  const sendBoth = () => Promise.all(COLLIDING_KEYS.map((key) => send(createPet, { name: key, key })));
  const replies = await sendBoth();
  await proxy.set(undefined);
  expect(replies.map(({ status, pet }) => [status, pet.name])).toEqual(
    COLLIDING_KEYS.map((key) => [201, key]),
  );
  expect(replies.filter(({ pet }) => pet.id === 7890487259239735n)).toHaveLength(1);
  expect(await sendBoth()).toEqual(replies);
  expect(await listed(pets)).toEqual(new Map(replies.map(({ pet }) => [pet.id, pet])));
});
