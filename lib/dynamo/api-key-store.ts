import {
  type AttributeValue,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { type ApiKeyRecord, isScope, keyIdOf } from "../api-key.ts";
import { conditionFailure, dynamoClient, type Item } from "./client.ts";

/** When DynamoDB deletes a key, in seconds since 1970. This only cleans up: the authorizer checks the times itself. */
export const KEY_TTL_ATTRIBUTE = "deleteAt";

// An expired or revoked key stays in the operators' list for this long.
export const RETENTION_MS = 90 * 24 * 60 * 60 * 1000;

const numberAttribute = (value: number): AttributeValue => ({ N: String(value) });
const deleteAtAttribute = (end: number) => numberAttribute(Math.ceil((end + RETENTION_MS) / 1000));

// How a key ends. The conditions below have `OR revokeAt = :at`, because the SDK repeats a write whose response was lost.
const END = `SET revokeAt = :at, ${KEY_TTL_ATTRIBUTE} = :deleteAt`;
const endAttributes = (at: number): Item => ({
  ":at": numberAttribute(at),
  ":deleteAt": deleteAtAttribute(at),
});

/** Returns undefined for an item that a person or another program has damaged. */
function toRecord(item: Item): ApiKeyRecord | undefined {
  const { keyId, hash, owner, scopes, createdAt, expiresAt, revokeAt, revoked } = item;
  if (!hash?.S || keyId?.S !== keyIdOf(hash.S)) return undefined;
  if (owner?.S === undefined || !scopes?.SS?.every(isScope)) return undefined;
  const times = {
    createdAt: Number(createdAt?.N),
    expiresAt: expiresAt && Number(expiresAt.N),
    revokeAt: revokeAt && Number(revokeAt.N),
  };
  // A Date holds 100 million days on both sides of 1970.
  const isTime = (value?: number) => value === undefined || !Number.isNaN(new Date(value).getTime());
  if (!Object.values(times).every(isTime)) return undefined;
  const ended = revoked && { revoked: true as const };
  return { hash: hash.S, keyId: keyId.S, owner: owner.S, scopes: scopes.SS, ...times, ...ended };
}

const getCommand = (table: string, keyId: string) =>
  new GetItemCommand({ TableName: table, Key: { keyId: { S: keyId } }, ConsistentRead: true });

/**
 * Makes what the authorizer needs of the keys table. It uses DynamoDB's own attribute format, because the authorizer runs
 * before every operation and should not load the document client.
 */
export function apiKeyFinder(table: string) {
  const client = dynamoClient();
  return {
    /**
     * Returns the key with this hash as last written, or undefined if there is none or its item is damaged.
     *
     * @throws ApiError when the table cannot be read, or when the signal aborts
     */
    async find(hash: string, abortSignal?: AbortSignal): Promise<ApiKeyRecord | undefined> {
      const { Item } = await client.send(getCommand(table, keyIdOf(hash)), { abortSignal });
      const record = Item && toRecord(Item);
      // The ID has only 64 bits of the hash: somebody could search for another text with the same ID.
      return record?.hash === hash ? record : undefined;
    },
  };
}

/** A key as operators see it. */
export interface StoredKey {
  keyId: string;
  /** undefined when the item is damaged: the key does not work, and can only be revoked */
  record: ApiKeyRecord | undefined;
}

export type ApiKeyStore = ReturnType<typeof apiKeyStore>;

/**
 * Makes what operators need of the keys table. Times are milliseconds since 1970. Each method throws ApiError when DynamoDB
 * fails.
 *
 * @param table has the partition key `keyId`
 * @param config overrides the client's defaults, which are tuned for the functions
 */
export function apiKeyStore(table: string, config?: DynamoDBClientConfig) {
  const client = dynamoClient(config);
  const toStored = (item: Item): StoredKey => ({ keyId: item.keyId?.S ?? "", record: toRecord(item) });

  /** Returns whether the condition held. */
  async function update(keyId: string, input: Partial<UpdateItemCommandInput>): Promise<boolean> {
    const command = new UpdateItemCommand({ TableName: table, Key: { keyId: { S: keyId } }, ...input });
    return !(await conditionFailure(client.send(command)));
  }

  return {
    /** Returns the key with this ID as last written, or undefined. */
    async get(keyId: string): Promise<StoredKey | undefined> {
      const { Item } = await client.send(getCommand(table, keyId));
      return Item && toStored(Item);
    },

    /** Stores a new key. @throws ConditionalCheckFailedException if another key has its ID */
    async add({ hash, keyId, owner, scopes, createdAt, expiresAt }: ApiKeyRecord): Promise<void> {
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: {
            hash: { S: hash },
            keyId: { S: keyId },
            owner: { S: owner },
            scopes: { SS: scopes },
            createdAt: numberAttribute(createdAt),
            ...(expiresAt !== undefined && {
              expiresAt: numberAttribute(expiresAt),
              [KEY_TTL_ATTRIBUTE]: deleteAtAttribute(expiresAt),
            }),
          },
          // It never replaces another key. The second half lets the SDK repeat a write whose response was lost.
          ConditionExpression: "attribute_not_exists(keyId) OR #hash = :hash",
          ExpressionAttributeNames: { "#hash": "hash" },
          ExpressionAttributeValues: { ":hash": { S: hash } },
        }),
      );
    },

    /** Returns every key, in no particular order. It reads the whole table. */
    async list(): Promise<StoredKey[]> {
      const stored: StoredKey[] = [];
      const input = { TableName: table, ConsistentRead: true };
      for await (const { Items = [] } of paginateScan({ client }, input)) stored.push(...Items.map(toStored));
      return stored;
    },

    /** Revokes a key at once and by every clock. Returns false when it does not exist or was already revoked. */
    revoke: (keyId: string, now: number) =>
      update(keyId, {
        UpdateExpression: `${END}, revoked = :true`,
        ConditionExpression: "attribute_exists(keyId) AND (attribute_not_exists(revoked) OR revokeAt = :at)",
        ExpressionAttributeValues: { ...endAttributes(now), ":true": { BOOL: true } },
      }),

    /** Lets a key end at a time in the future. Returns false when it does not exist, or was rotated or revoked before. */
    rotate: (keyId: string, at: number) =>
      update(keyId, {
        UpdateExpression: END,
        ConditionExpression: "attribute_exists(keyId) AND (attribute_not_exists(revokeAt) OR revokeAt = :at)",
        ExpressionAttributeValues: endAttributes(at),
      }),
  };
}
