import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, expect, it } from "@jest/globals";
import {
  type ApiKeyRecord,
  generateApiKey,
  isLive,
  NO_END,
  newApiKeyRecord,
  REVOKED,
} from "../../../lib/api-key.ts";
import { apiKeyFinder, apiKeyStore, RETENTION_MS } from "../../../lib/dynamo/api-key-store.ts";

const table = process.env.API_KEYS_TABLE ?? "";
const keys = apiKeyStore(table);
const { find } = apiKeyFinder(table);
const DAY = 86_400_000;
/** Later than the time of the test, and a whole second. */
const NOW = Math.ceil(Date.now() / 1000) * 1000 + 2 * DAY;

const record = (details: { endsAt?: number } = {}): ApiKeyRecord =>
  newApiKeyRecord(generateApiKey("staging"), {
    owner: "test",
    scopes: ["pets:read", "pets:write"],
    createdAt: NOW - 2 * DAY,
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

it("finds a key by its hash and its ID, and lists it, as added", async () => {
  for (const added of [record(), record({ endsAt: NOW + DAY + 500 })]) {
    await keys.add(added);
    expect(await find(added.hash)).toEqual(added);
    expect(await keys.get(added.keyId)).toEqual(added);
    expect(await keys.list()).toContainEqual(added);
  }
  const { hash, keyId } = record();
  expect(await find(hash)).toBeUndefined();
  expect(await keys.get(keyId)).toBeUndefined();
  expect(await keys.end(keyId, NOW)).toBeUndefined();
  expect(await itemOf(keyId)).toBeUndefined();
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
  const [endless, expiring] = [record(), record({ endsAt: NOW + DAY + 500 })];
  for (const added of [endless, expiring]) await keys.add(added);
  expect(await deletion(endless.keyId)).toBeUndefined();
  expect(await deletion(expiring.keyId)).toBe(String((NOW + DAY + RETENTION_MS) / 1000 + 1));
  await keys.end(expiring.keyId, NOW);
  expect(await deletion(expiring.keyId)).toBe(String((NOW + RETENTION_MS) / 1000));
  await keys.end(endless.keyId, REVOKED);
  const afterNow = Number(await deletion(endless.keyId)) * 1000 - RETENTION_MS - Date.now();
  expect(Math.abs(afterNow)).toBeLessThan(DAY);
});

it("ends a key at the earliest time that it is given, whatever the order", async () => {
  for (const ends of [
    [NOW, NOW + DAY],
    [NOW + DAY, NOW, NOW + 1],
    [NOW, NO_END],
    [NOW, REVOKED, NOW],
  ]) {
    const key = record();
    for (const _attempt of [1, 2]) await keys.add(key); // the SDK repeats a write whose response was lost
    for (const at of ends) await keys.end(key.keyId, at);
    const ended = { ...key, endsAt: Math.min(...ends) };
    expect(await keys.end(key.keyId, NOW + 2 * DAY)).toEqual(ended);
    expect(await find(key.hash)).toEqual(ended);
  }
});

const dead = { live: false, scopes: ["pets:read", "pets:write"] };
const powerless = { live: true, scopes: [] };
it.each<[Record<string, AttributeValue | undefined>, found: object | undefined]>([
  [{ hash: undefined }, undefined],
  [{ endsAt: undefined }, dead],
  [{ endsAt: { S: String(NO_END) } }, dead],
  [{ scopes: undefined }, powerless],
  [{ scopes: { SS: ["a pets:write"] } }, powerless], // the authorizer separates scopes by a space
])("gives a key with a missing or another attribute nothing: %j", async (change, found) => {
  const key = record();
  await keys.add(key);
  const Item = JSON.parse(JSON.stringify({ ...(await itemOf(key.keyId)), ...change }));
  await client.send(new PutItemCommand({ TableName: table, Item }));
  const stored = await find(key.hash);
  expect(stored && { live: isLive(stored, NOW - DAY), scopes: stored.scopes }).toEqual(found);
  // Its end cannot bring it back.
  const ended = await keys.end(key.keyId, NOW);
  expect(ended && isLive(ended, NOW)).toBe(false);
});
