import { DynamoDBClient, GetItemCommand, type ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { type ApiKeyRecord, generateApiKey, recordOf } from "../../../lib/api-key.ts";
import { keyStore } from "../../../lib/dynamo/key-store.ts";

const table = process.env.KEYS_TABLE ?? "";
const keys = keyStore(table);
const DAY = 86_400_000;

const record = (details: { expiresAt?: number } = {}): ApiKeyRecord =>
  recordOf(generateApiKey("staging"), {
    name: "test",
    scopes: ["pets:read", "pets:write"],
    createdAt: 1_800_000_000_000,
    ...details,
  });

/** Returns the item as DynamoDB has it. */
async function stored({ hash }: ApiKeyRecord) {
  const client = new DynamoDBClient({});
  const { Item } = await client.send(new GetItemCommand({ TableName: table, Key: { hash: { S: hash } } }));
  client.destroy();
  return Item;
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe("the store of keys", () => {
  it("finds a key as it was added", async () => {
    const forever = record();
    const expiring = record({ expiresAt: 1_900_000_000_500 });
    for (const added of [forever, expiring]) {
      await keys.add(added);
      expect(await keys.find(added.hash)).toEqual(added);
    }
    expect(await keys.find("none")).toBeUndefined();
  });

  it("has DynamoDB delete a key 90 days after its end, in seconds", async () => {
    const forever = record();
    const expiring = record({ expiresAt: 1_900_000_000_500 });
    await keys.add(forever);
    await keys.add(expiring);
    expect((await stored(forever))?.deleteAt).toBeUndefined();
    expect((await stored(expiring))?.deleteAt).toEqual({ N: String(1_900_000_001 + 90 * 86_400) });
    await keys.revoke(expiring.hash, 1_850_000_000_000);
    expect((await stored(expiring))?.deleteAt).toEqual({ N: String(1_850_000_000 + 90 * 86_400) });
  });

  it("revokes a key once, or earlier than before, but never later", async () => {
    const key = record();
    await keys.add(key);
    const at = 1_850_000_000_000;
    expect(await keys.revoke(key.hash, at)).toBe(true);
    expect(await keys.revoke(key.hash, at)).toBe(false);
    expect(await keys.revoke(key.hash, at + DAY)).toBe(false);
    expect((await keys.find(key.hash))?.revokedAt).toBe(at);
    expect(await keys.revoke(key.hash, at - DAY)).toBe(true);
    expect((await keys.find(key.hash))?.revokedAt).toBe(at - DAY);
  });

  it("does not revoke a key that does not exist", async () => {
    const key = record();
    expect(await keys.revoke(key.hash, 1_850_000_000_000)).toBe(false);
    expect(await keys.find(key.hash)).toBeUndefined();
  });

  it("throws other failures than a failed condition", async () => {
    jest.spyOn(DynamoDBClient.prototype, "send").mockImplementation(() => Promise.reject(new Error("down")));
    await expect(keys.revoke(record().hash, 1)).rejects.toThrow("down");
  });

  it("lists the keys of every page, as last written", async () => {
    const inputs: unknown[] = [];
    const item = (keyId: string) => ({
      hash: { S: keyId },
      keyId: { S: keyId },
      name: { S: "test" },
      scopes: { SS: ["pets:read"] },
      createdAt: { N: "1" },
    });
    jest.spyOn(DynamoDBClient.prototype, "send").mockImplementation(async (command: unknown) => {
      inputs.push((command as ScanCommand).input);
      const pages = [
        { Items: [item("key_1")], LastEvaluatedKey: { hash: { S: "key_1" } } },
        { LastEvaluatedKey: { hash: { S: "key_2" } } },
        { Items: [item("key_3")] },
      ];
      return pages[inputs.length - 1];
    });
    expect((await keys.list()).map(({ keyId }) => keyId)).toEqual(["key_1", "key_3"]);
    expect(inputs).toEqual(
      [undefined, { hash: { S: "key_1" } }, { hash: { S: "key_2" } }].map((ExclusiveStartKey) => ({
        TableName: table,
        ConsistentRead: true,
        ExclusiveStartKey,
      })),
    );
  });

  it("lists what was added, as it was added", async () => {
    const key = record({ expiresAt: 1_900_000_000_000 });
    await keys.add(key);
    expect(await keys.list()).toContainEqual(key);
  });
});
