import {
  type AttributeValue,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { type ApiKeyRecord, isScope, keyIdOf, NO_END } from "../api-key.ts";
import { conditionFailure, dynamoClient, type Item } from "./client.ts";
import { KEY_TTL_ATTRIBUTE } from "./schema.ts";

// A key that has ended stays in the operators' list for this long.
export const RETENTION_MS = 90 * 24 * 60 * 60 * 1000;

const numberAttribute = (value: number): AttributeValue => ({ N: String(value) });
const deleteAtAttribute = (end: number) =>
  numberAttribute(Math.ceil((Math.max(end, Date.now()) + RETENTION_MS) / 1000));

/** Reads an item. A missing or malformed attribute gives no scope, and an end at which no key works. */
const toRecord = ({ keyId, hash, owner, scopes, createdAt, endsAt }: Item): ApiKeyRecord => ({
  hash: hash?.S ?? "",
  keyId: keyId?.S ?? "",
  owner: owner?.S ?? "",
  scopes: (scopes?.SS ?? []).filter(isScope),
  createdAt: Number(createdAt?.N),
  endsAt: Number(endsAt?.N),
});

/** Makes the look-up of keys, which reads an item as last written. */
const keyReader =
  (client: ReturnType<typeof dynamoClient>, TableName: string) =>
  async (keyId: string, signal?: AbortSignal): Promise<ApiKeyRecord | undefined> => {
    const command = new GetItemCommand({ TableName, Key: { keyId: { S: keyId } }, ConsistentRead: true });
    const { Item } = await client.send(command, { abortSignal: signal });
    return Item && toRecord(Item);
  };

/**
 * Makes what the authorizer needs of the keys table. It uses DynamoDB's own attribute format, because the authorizer runs
 * before every operation and should not load the document client.
 */
export function apiKeyFinder(table: string) {
  const read = keyReader(dynamoClient(), table);
  return {
    /**
     * Returns the key with this hash as last written, or undefined if there is none.
     *
     * @throws ApiError when the table cannot be read, or when the signal aborts
     */
    async find(hash: string, signal?: AbortSignal): Promise<ApiKeyRecord | undefined> {
      const record = await read(keyIdOf(hash), signal);
      // The ID has only 64 bits of the hash: somebody could search for another text with the same ID.
      return record?.hash === hash ? record : undefined;
    },
  };
}

export type ApiKeyStore = ReturnType<typeof apiKeyStore>;

/**
 * Makes what operators need of the keys table. Times are milliseconds since 1970. Each method throws ApiError when DynamoDB
 * fails.
 *
 * @param TableName has the partition key `keyId`
 * @param config overrides the client's defaults, which are tuned for the functions
 */
export function apiKeyStore(TableName: string, config?: DynamoDBClientConfig) {
  const client = dynamoClient(config);
  const get = keyReader(client, TableName);
  return {
    /** Returns the key with this ID as last written, or undefined. */
    get,

    /** Stores a new key. @throws ConditionalCheckFailedException if another key has its ID */
    async add({ hash, keyId, owner, scopes, createdAt, endsAt }: ApiKeyRecord): Promise<void> {
      await client.send(
        new PutItemCommand({
          TableName,
          Item: {
            hash: { S: hash },
            keyId: { S: keyId },
            owner: { S: owner },
            scopes: { SS: scopes },
            createdAt: numberAttribute(createdAt),
            endsAt: numberAttribute(endsAt),
            ...(endsAt !== NO_END && { [KEY_TTL_ATTRIBUTE]: deleteAtAttribute(endsAt) }),
          },
          // It never replaces another key. The second half lets the SDK repeat a write whose response was lost.
          ConditionExpression: "attribute_not_exists(keyId) OR #hash = :hash",
          ExpressionAttributeNames: { "#hash": "hash" },
          ExpressionAttributeValues: { ":hash": { S: hash } },
        }),
      );
    },

    /** Returns every key, in no particular order. It reads the whole table. */
    async list(): Promise<ApiKeyRecord[]> {
      const records: ApiKeyRecord[] = [];
      const pages = paginateScan({ client }, { TableName, ConsistentRead: true });
      for await (const { Items = [] } of pages) records.push(...Items.map(toRecord));
      return records;
    },

    /** Ends a key at a time, or REVOKED, unless it ends earlier. @returns the key as it then is, or undefined */
    async end(keyId: string, at: number): Promise<ApiKeyRecord | undefined> {
      const update = new UpdateItemCommand({
        TableName,
        Key: { keyId: { S: keyId } },
        UpdateExpression: `SET endsAt = :at, ${KEY_TTL_ATTRIBUTE} = :deleteAt`,
        ConditionExpression: "endsAt > :at",
        ExpressionAttributeValues: { ":at": numberAttribute(at), ":deleteAt": deleteAtAttribute(at) },
      });
      await conditionFailure(client.send(update));
      return get(keyId);
    },
  };
}
