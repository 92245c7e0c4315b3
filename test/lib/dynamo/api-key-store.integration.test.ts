import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, expect, it, jest } from "@jest/globals";
import { type ApiKeyRecord, generateApiKey, isLive, newApiKeyRecord } from "../../../lib/api-key.ts";
import { apiKeyStore, RETENTION_MS } from "../../../lib/dynamo/api-key-store.ts";

const table = process.env.API_KEYS_TABLE ?? "";
const keys = apiKeyStore(table);
const DAY = 86_400_000;
const NOW = 1_850_000_000_000;

const record = (details: { expiresAt?: number } = {}): ApiKeyRecord =>
  newApiKeyRecord(generateApiKey("staging"), {
    owner: "test",
    scopes: ["pets:read", "pets:write"],
    createdAt: 1_800_000_000_000,
    ...details,
  });

const rotate = (hash: string, at: number, now: number) => keys.rotate(hash, "key_1", at, now);

const client = new DynamoDBClient({});
afterAll(() => client.destroy());

async function itemOf({ hash }: Pick<ApiKeyRecord, "hash">) {
  const { Item } = await client.send(new GetItemCommand({ TableName: table, Key: { hash: { S: hash } } }));
  return Item;
}

/** When DynamoDB deletes a key. */
const deletion = async (key: Pick<ApiKeyRecord, "hash">) => (await itemOf(key))?.deleteAt?.N;

afterEach(() => {
  jest.restoreAllMocks();
});

it("finds and lists a key as it was added, with the ID of its hash", async () => {
  const other = "key_0000000000000000";
  for (const added of [record(), record({ expiresAt: 1_900_000_000_500 })]) {
    await keys.add(added);
    const { hash, keyId } = added;
    // docs/incidents.md finds the items of a restored table by it.
    expect((await itemOf(added))?.keyId).toEqual({ S: keyId });
    await keys.add({ ...added, keyId: other });
    expect(await keys.find(hash)).toEqual(added);
    expect(await keys.list()).toContainEqual({ hash, keyId, record: added });
    expect(await keys.list(keyId)).toEqual([{ hash, keyId, record: added }]);
  }
  expect(await keys.list(other)).toEqual([]);
  expect(await keys.find("none")).toBeUndefined();
});

it("has DynamoDB delete a key some time after its end, in seconds", async () => {
  const expiring = record({ expiresAt: 1_900_000_000_500 });
  for (const [added, atFirst] of [
    [record(), undefined],
    [expiring, String(1_900_000_001 + RETENTION_MS / 1000)],
  ] as const) {
    await keys.add(added);
    expect(await deletion(added)).toBe(atFirst);
    await keys.revoke(added.hash, NOW);
    expect(await deletion(added)).toBe(String((NOW + RETENTION_MS) / 1000));
  }
});

it.each<[string, (hash: string) => Promise<boolean>]>([
  ["revoked", (hash) => keys.revoke(hash, NOW)],
  ["revoked while it rotates", (hash) => rotate(hash, NOW + DAY, NOW).then(() => keys.revoke(hash, NOW))],
  ["rotated without a grace period", (hash) => rotate(hash, NOW, NOW)],
])("ends at once and for every clock a key that is %s", async (_how, end) => {
  const key = record();
  await keys.add(key);
  expect(await end(key.hash)).toBe(true);
  for (const other of [NOW - DAY, NOW, NOW + DAY]) {
    expect(await keys.revoke(key.hash, other)).toBe(false);
    const found = await keys.find(key.hash);
    expect([found?.revokeAt, isLive(found ?? key, other)]).toEqual([NOW, false]);
  }
});

it("replaces a key once, for the rest of its life, and repeats the write after a lost response", async () => {
  const key = record({ expiresAt: NOW });
  await keys.add(key);
  const replace = (successor: string, now: number) => keys.rotate(key.hash, successor, NOW, now);
  const revokedAt = async () => (await keys.find(key.hash))?.revokeAt;
  expect([await replace("key_1", NOW), await revokedAt()]).toEqual([false, undefined]);
  expect([await replace("key_1", NOW - 1), await revokedAt()]).toEqual([true, NOW]);
  expect([await replace("key_2", 1), await replace("key_1", 1)]).toEqual([false, true]);
  const found = await keys.find(key.hash);
  expect([NOW - 1, NOW].map((now) => isLive(found ?? key, now))).toEqual([true, false]);
  await keys.revoke(key.hash, NOW - DAY);
  expect([await replace("key_1", 1), await revokedAt()]).toEqual([false, NOW - DAY]);
});

it("neither revokes nor replaces a key that does not exist", async () => {
  const { hash } = record();
  expect([await keys.revoke(hash, NOW), await rotate(hash, NOW, 1)]).toEqual([false, false]);
  expect(await keys.find(hash)).toBeUndefined();
});

it.each<[string, Record<string, AttributeValue | undefined>]>([
  ["no owner", { owner: undefined }],
  ["a number as its owner", { owner: { N: "1" } }],
  ["a scope that is none", { scopes: { SS: ["a pets:write"] } }],
  ["a list of scopes", { scopes: { L: [{ S: "pets:read" }] } }],
  ["no time of its creation", { createdAt: undefined }],
  ["a time that is no number", { expiresAt: { S: "2027" } }],
  ["an end that is null", { revokeAt: { NULL: true } }],
  ["a time that no Date holds", { expiresAt: { N: "1e16" } }],
])("names a key with %s, which does not work and can be deleted some time later", async (_what, change) => {
  const { hash, keyId } = record();
  const item = { owner: { S: "x" }, scopes: { SS: ["pets:read"] }, createdAt: { N: "1" }, ...change };
  const Item = JSON.parse(JSON.stringify({ hash: { S: hash }, ...item }));
  await client.send(new PutItemCommand({ TableName: table, Item }));
  expect(await keys.list(keyId)).toEqual([{ hash, keyId, record: undefined }]);
  expect(await keys.find(hash)).toBeUndefined();
  await keys.revoke(hash, NOW);
  expect(await deletion({ hash })).toBe(String((NOW + RETENTION_MS) / 1000));
});

it("lists the keys of every page, as last written", async () => {
  const item = (S: string) => ({ hash: { S } });
  const [first, second] = [item("1"), item("2")];
  const send = jest.fn<(command: ScanCommand) => Promise<unknown>>();
  send.mockResolvedValueOnce({ Items: [item("1")], LastEvaluatedKey: first });
  send.mockResolvedValueOnce({ LastEvaluatedKey: second });
  send.mockResolvedValueOnce({ Items: [item("3")] });
  jest.spyOn(DynamoDBClient.prototype, "send").mockImplementation(send as never);
  expect((await keys.list()).map(({ hash }) => hash)).toEqual(["1", "3"]);
  expect(send.mock.calls.map(([{ input }]) => input)).toEqual(
    [undefined, first, second].map((ExclusiveStartKey) => ({
      TableName: table,
      ConsistentRead: true,
      ExclusiveStartKey,
    })),
  );
});
