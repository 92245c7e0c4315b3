import { randomInt, randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, expect, it, jest } from "@jest/globals";
import { MAX_ID_ATTEMPTS } from "../../lib/dynamo/item-creator.ts";
import { petLister, petRemover } from "../../lib/dynamo/pet-store.ts";
import { ORDER_ATTRIBUTE } from "../../lib/dynamo/schema.ts";
import { parseJson } from "../../lib/http/json.ts";
import type { Pet } from "../../lib/pet.ts";
import { ATTEMPTS } from "../../lib/time-limits.ts";
import { context, requestEvent } from "../support/event.ts";
import { type Fault, startFaultProxy } from "../support/fault-proxy.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { startFunction } from "../support/start-function.ts";

// docs/decisions/one-write.md: an id goes from free to the pet of one creation, and from there to the retired id of the same
// creation, never back and never to another one. Here, each fault meets the one write of createPet in each story.

const tables = await createOwnTables();

/**
 * `replies` are the statuses of the responses in ascending order. `pets` is how many pets the list then has. With an
 * Idempotency-Key, a client retries after a 5xx: a story ends as it says here, whatever the fault. Without one, a client does
 * not retry: each request adds at most one pet, also when its response is a 5xx.
 */
type Story = { replies: number[]; pets: number; when: (client: Client) => unknown };
const stories: Record<string, Story> = {
  "a request": { replies: [201], pets: 1, when: ({ add }) => add() },
  "a request, then a retry that meets the fault again": { replies: [201, 201], pets: 1, when: retry },
  "a request that arrives twice at once": { replies: [201, 201], pets: 1, when: atOnce({}) },
  "requests for two pets at once": { replies: [201, 422], pets: 1, when: atOnce({ name: "Max" }) },
  "requests with two API keys at once": { replies: [201, 201], pets: 2, when: atOnce({ keyId: "key_2" }) },
  "a deletion, then a retry": { replies: [201, 201], pets: 0, when: deletion },
  "one id that another pet has": { replies: [201], pets: 1, when: taken(1, "pet") },
  "one id that is retired": { replies: [201], pets: 1, when: taken(1, "retired id") },
  "two ids that other pets have": { replies: [201], pets: 1, when: taken(2, "pet") },
  "two ids that are retired": { replies: [201], pets: 1, when: taken(2, "retired id") },
  "only ids that other pets have": { replies: [503], pets: 0, when: taken(MAX_ID_ATTEMPTS, "pet") },
  "only ids that are retired": { replies: [503], pets: 0, when: taken(MAX_ID_ATTEMPTS, "retired id") },
};

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

async function retry({ add, fail }: Client) {
  await add();
  await fail();
  await add();
}

function atOnce(parts: Partial<Request>) {
  return ({ add }: Client) => Promise.all([add(), add(parts)]);
}

/** The pet is deleted: before the first repeated write that finds it, or else after the response. */
async function deletion({ request, replies, add, beforeEach }: Client) {
  const { remove } = petRemover(tables.PETS_TABLE);
  beforeEach((id) => remove(id));
  await add();
  for (const { status, pet } of replies) if (status === 201) await remove(pet.id);
  if (request.key) await add();
}

/** Another creation takes the first ids that the client tries. */
function taken(count: number, by: "pet" | "retired id") {
  const pet = { name: "Other", categoryId: 0, status: "sold", [ORDER_ATTRIBUTE]: 1 };
  const item = by === "pet" ? pet : { fingerprint: "-", deletionId: "-" };
  return async ({ add, beforeEach, others }: Client) => {
    beforeEach(async (id) => {
      if (others.size === count || others.has(id)) return;
      others.add(id);
      const Item = { ...item, id, creationId: "another" };
      await table.send(new PutCommand({ TableName: tables.PETS_TABLE, Item }));
    });
    await add();
  };
}

const { AWS_ENDPOINT_URL_DYNAMODB: endpoint = "" } = process.env;
const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
jest.spyOn(console, "error").mockImplementation(() => undefined); // the functions log the faults

type Handler = Awaited<ReturnType<typeof startFunction>>;
const [getPet, restarted]: Handler[] = [await startFunction("getPet"), await startFunction("createPet")];

const proxies: Awaited<ReturnType<typeof startFaultProxy>>[] = [];
afterAll(() => Promise.all(proxies.map(({ close }) => close())));

/** Starts a function that calls the store through a proxy of its own, for requests with or without an Idempotency-Key. */
async function start(fault: Fault, keyed: boolean) {
  const proxy = await startFaultProxy(endpoint);
  proxies.push(proxy);
  return { proxy, createPet: (await startFunction("createPet", proxy.endpoint)) as Handler, fault, keyed };
}

interface Request {
  name: string;
  categoryId: number;
  /** the Idempotency-Key, if the request has one */
  key: string | undefined;
  keyId?: string;
}

/** Sends a request, and repeats it after a 5xx as a client can: only with an Idempotency-Key. */
async function send(createPet: Handler, { name, categoryId, key, keyId = "key_test" }: Request) {
  const event = requestEvent({
    headers: { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) },
    body: JSON.stringify({ name, categoryId, status: "sold" }),
    authorizer: { keyId, scopes: "pets:write" },
  });
  for (let tries = key ? ATTEMPTS + 1 : 1; ; tries--) {
    const { statusCode, body } = await createPet(event, context);
    if (statusCode < 500 || tries === 1) return { status: statusCode as number, pet: parseJson(body) as Pet };
  }
}

type Server = Awaited<ReturnType<typeof start>>;
type Client = ReturnType<typeof newClient>;

/** A client with a category of its own, whose next calls of the store meet a fault. */
function newClient({ proxy, createPet, fault, keyed }: Server) {
  const key = keyed ? randomUUID() : undefined;
  const request: Request = { name: "Rex", categoryId: randomInt(2 ** 47), key };
  const replies: { sent: Request; status: number; pet: Pet }[] = [];
  return {
    request,
    replies,
    /** the ids that another creation took before this client */
    others: new Set<bigint>(),
    add: async (parts: Partial<Request> = {}): Promise<void> => {
      const sent = { ...request, ...parts };
      replies.push({ sent, ...(await send(createPet, sent)) });
    },
    /** The fault affects the first attempt without an Idempotency-Key, so that it can succeed. Otherwise it affects all. */
    fail: () => proxy.set(fault, ({ nth }) => nth <= (keyed ? ATTEMPTS : 1)),
    /** Calls a function with the id of each write before the write is executed. */
    beforeEach: (hook: (id: bigint) => unknown) => proxy.beforeEach(({ Item }) => hook(BigInt(Item?.id.N))),
  };
}

/** Returns all pets by id, and expects each once. */
async function listed(): Promise<Map<bigint, Pet>> {
  const { pets, next } = await petLister(tables.PETS_TABLE).list({ limit: 2000 });
  const byId = new Map(pets.map((pet) => [pet.id, pet]));
  expect([byId.size, next]).toEqual([pets.length, undefined]);
  return byId;
}

async function check({ request, replies, others }: Client, story: Story, list: Map<bigint, Pet>) {
  const pets = [...list.values()].filter(({ categoryId }) => categoryId === BigInt(request.categoryId));
  const added = replies.filter(({ status }) => status === 201);
  const statuses = replies.map(({ status }) => status).sort();
  if (request.key) {
    expect({ replies: statuses, pets: pets.length }).toEqual({ replies: story.replies, pets: story.pets });
    expect(pets.filter(({ id }) => !added.some(({ pet }) => pet.id === id))).toEqual([]);
  } else {
    expect(pets.length).toBeLessThanOrEqual(replies.length);
    expect(statuses.filter((status) => status < 500 && status !== story.replies[0])).toEqual([]);
  }
  for (const { sent, pet } of added) {
    const { name, categoryId } = sent;
    expect(pet).toEqual({ id: pet.id, name, categoryId: BigInt(categoryId), status: "sold" });
    const { statusCode, body } = await getPet(requestEvent({ path: { petId: String(pet.id) } }), context);
    const found = { status: statusCode, pet: parseJson(body), listed: list.get(pet.id) };
    if (story.pets === 0) expect(found).toMatchObject({ status: 404, listed: undefined });
    else expect(found).toEqual({ status: 200, pet, listed: pet });
  }
  for (const id of others) {
    const { Item } = await table.send(new GetCommand({ TableName: tables.PETS_TABLE, Key: { id } }));
    expect(Item).toMatchObject({ creationId: "another" });
  }
}

const servers: Server[] = [];
for (const fault of faults) servers.push(await start(fault, true), await start(fault, false));

it.each(Object.entries(stories))("%s, with each fault and after a restart: %j", async (_, story) => {
  const running = servers.map(async (server) => {
    const client = newClient(server);
    client.beforeEach(() => undefined);
    await client.fail();
    await story.when(client);
    await server.proxy.set(undefined);
    return client;
  });
  const done = await Promise.all(running);
  const list = await listed();
  for (const client of done) await check(client, story, list);
  for (const { sent, status, pet } of done.flatMap(({ replies }) => replies))
    if (sent.key) expect(await send(restarted, sent)).toEqual({ status, pet });
  expect(await listed()).toEqual(list);
});
