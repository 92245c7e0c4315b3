import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, expect, it, jest } from "@jest/globals";
import { type ApiKeyRecord, generateApiKey, isLive, newApiKeyRecord } from "../../../lib/api-key.ts";
import { apiKeyFinder, apiKeyStore, RETENTION_MS } from "../../../lib/dynamo/api-key-store.ts";

const table = process.env.API_KEYS_TABLE ?? "";
const keys = apiKeyStore(table);
const { find } = apiKeyFinder(table);
const DAY = 86_400_000;
const NOW = 1_850_000_000_000;

const record = (details: { expiresAt?: number } = {}): ApiKeyRecord =>
  newApiKeyRecord(generateApiKey("staging"), {
    owner: "test",
    scopes: ["pets:read", "pets:write"],
    createdAt: 1_800_000_000_000,
    ...details,
  });

const client = new DynamoDBClient({});
afterAll(() => client.destroy());

async function itemOf(keyId: string) {
  const { Item } = await client.send(new GetItemCommand({ TableName: table, Key: { keyId: { S: keyId } } }));
  return Item;
}

/** When DynamoDB deletes a key. */
const deletion = async (keyId: string) => (await itemOf(keyId))?.deleteAt?.N;

afterEach(() => {
  jest.restoreAllMocks();
});

it("finds a key by its hash and its ID, and lists it, as added", async () => {
  for (const added of [record(), record({ expiresAt: 1_900_000_000_500 })]) {
    await keys.add(added);
    const { hash, keyId } = added;
    const stored = { keyId, record: added };
    expect(await find(hash)).toEqual(added);
    expect(await keys.get(keyId)).toEqual(stored);
    expect(await keys.list()).toContainEqual(stored);
  }
  const { hash, keyId } = record();
  expect(await find(hash)).toBeUndefined();
  expect(await keys.get(keyId)).toBeUndefined();
});

it("takes no key for another one that has its ID, and replaces none by it", async () => {
  const key = record();
  await keys.add(key);
  const other = { ...key, hash: key.hash.slice(0, 16) + record().hash.slice(16) };
  await expect(keys.add(other)).rejects.toThrow(ConditionalCheckFailedException);
  expect(await find(other.hash)).toBeUndefined();
  expect(await find(key.hash)).toEqual(key);
});

it("has DynamoDB delete a key some time after its end, in seconds", async () => {
  const expiring = record({ expiresAt: 1_900_000_000_500 });
  for (const [added, atFirst] of [
    [record(), undefined],
    [expiring, String(1_900_000_001 + RETENTION_MS / 1000)],
  ] as const) {
    await keys.add(added);
    expect(await deletion(added.keyId)).toBe(atFirst);
    await keys.revoke(added.keyId, NOW);
    expect(await deletion(added.keyId)).toBe(String((NOW + RETENTION_MS) / 1000));
  }
});

it("revokes a key at once, by every clock and for ever, also while it rotates", async () => {
  for (const rotates of [false, true]) {
    const key = record();
    const { keyId, hash } = key;
    await keys.add(key);
    if (rotates) await keys.rotate(keyId, NOW + DAY);
    expect(await keys.revoke(keyId, NOW)).toBe(true);
    for (const now of [NOW - DAY, NOW + DAY]) {
      expect(await keys.revoke(keyId, now)).toBe(false);
      expect(await keys.rotate(keyId, now)).toBe(false);
    }
    const found = await find(hash);
    expect(found?.revokeAt).toBe(NOW);
    for (const now of [NOW - DAY, NOW, NOW + DAY]) expect(found && isLive(found, now)).toBe(false);
  }
});

it("lets a key rotate once, until an end that a later rotation cannot move", async () => {
  const key = record();
  await keys.add(key);
  expect(await keys.rotate(key.keyId, NOW)).toBe(true);
  for (const at of [NOW - DAY, NOW + DAY]) expect(await keys.rotate(key.keyId, at)).toBe(false);
  const found = await find(key.hash);
  expect(found && isLive(found, NOW - 1)).toBe(true);
  expect(found && isLive(found, NOW)).toBe(false);
});

it("accepts a write that the SDK repeats because the response was lost", async () => {
  const key = record();
  const writes = [
    () => keys.add(key),
    () => keys.rotate(key.keyId, NOW + DAY),
    () => keys.revoke(key.keyId, NOW),
  ];
  for (const write of writes) {
    await write();
    expect(await write()).not.toBe(false);
  }
});

it("neither revokes nor rotates a key that does not exist", async () => {
  const { keyId } = record();
  expect(await keys.revoke(keyId, NOW)).toBe(false);
  expect(await keys.rotate(keyId, NOW)).toBe(false);
  expect(await itemOf(keyId)).toBeUndefined();
});

const anything = { NULL: true as const };
it.each<Record<string, AttributeValue | undefined>>([
  ...["hash", "owner", "scopes", "createdAt"].map((name) => ({ [name]: undefined })),
  ...["hash", "owner", "scopes", "createdAt", "expiresAt", "revokeAt"].map((name) => ({ [name]: anything })),
  { hash: { S: "0".repeat(64) } }, // of another key
  { scopes: { SS: ["a pets:write"] } }, // the authorizer separates scopes by a space
  { expiresAt: { N: "1e16" } }, // no Date holds it
])("takes another form of item for damaged, which can only be revoked: %j", async (change) => {
  const key = record();
  await keys.add(key);
  const Item = JSON.parse(JSON.stringify({ ...(await itemOf(key.keyId)), ...change }));
  await client.send(new PutItemCommand({ TableName: table, Item }));
  const damaged = { keyId: key.keyId, record: undefined };
  expect(await find(key.hash)).toBeUndefined();
  expect(await keys.get(key.keyId)).toEqual(damaged);
  expect(await keys.list()).toContainEqual(damaged);
  expect(await keys.revoke(key.keyId, NOW)).toBe(true);
  expect(await deletion(key.keyId)).toBe(String((NOW + RETENTION_MS) / 1000));
});

it("lists the keys of every page, as last written", async () => {
  const item = (S: string) => ({ keyId: { S } });
  const pages = [[item("key_1")], [], [item("key_2")]];
  const send = async ({ input }: ScanCommand) => {
    expect(input.ConsistentRead).toBe(true);
    const page = Number(input.ExclusiveStartKey?.keyId?.S ?? 0);
    return { Items: pages[page], LastEvaluatedKey: pages[page + 1] && item(String(page + 1)) };
  };
  jest.spyOn(DynamoDBClient.prototype, "send").mockImplementation(send as never);
  expect((await keys.list()).map(({ keyId }) => keyId)).toEqual(["key_1", "key_2"]);
});
