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

// How a key ends, and the condition that it exists and has no end of this kind yet. The SDK repeats a write whose response
// was lost: the condition then holds as well.
const END = `SET revokeAt = :at, ${KEY_TTL_ATTRIBUTE} = :deleteAt`;
const endAttributes = (at: number): Item => ({
  ":at": numberAttribute(at),
  ":deleteAt": deleteAtAttribute(at),
});
const lacks = (attribute: string) =>
  `attribute_exists(keyId) AND (attribute_not_exists(${attribute}) OR revokeAt = :at)`;

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

/** A key in the operators' list. */
export interface StoredKey {
  keyId: string;
  /** undefined when the item is damaged: the key does not work, and can only be revoked */
  record: ApiKeyRecord | undefined;
}

/** A store of API keys. Times are milliseconds since 1970. Its methods throw ApiError when the store fails. */
export interface ApiKeyStore {
  /** Returns the key with this hash as last written, or undefined if there is none or its item is damaged. */
  find(hash: string, signal?: AbortSignal): Promise<ApiKeyRecord | undefined>;
  /** Returns the key with this ID in the same way. Only for operators: whoever knows the ID need not have the key. */
  get(keyId: string, signal?: AbortSignal): Promise<ApiKeyRecord | undefined>;
  /** Stores a new key. @throws ConditionalCheckFailedException if another key has its ID */
  add(record: ApiKeyRecord): Promise<void>;
  /** Returns every key, in no particular order. It reads the whole table, so only operators use it. */
  list(): Promise<StoredKey[]>;
  /** Revokes a key at once and by every clock. Returns false when it does not exist or was already revoked. */
  revoke(keyId: string, now: number): Promise<boolean>;
  /** Lets a key end at a time in the future. Returns false when it does not exist, or was rotated or revoked before. */
  rotate(keyId: string, at: number): Promise<boolean>;
}

/**
 * Makes the store of API keys in a DynamoDB table. It uses DynamoDB's own attribute format, because the authorizer runs
 * before every operation and should not load the document client.
 *
 * @param table has the partition key `keyId`
 * @param config overrides the defaults, which are tuned for the authorizer
 */
export function apiKeyStore(table: string, config?: DynamoDBClientConfig): ApiKeyStore {
  const client = dynamoClient(config);
  const itemKey = (keyId: string) => ({ TableName: table, Key: { keyId: { S: keyId } } });

  const get: ApiKeyStore["get"] = async (keyId, abortSignal) => {
    const command = new GetItemCommand({ ...itemKey(keyId), ConsistentRead: true });
    const { Item } = await client.send(command, { abortSignal });
    return Item && toRecord(Item);
  };

  /** Returns whether the condition held. */
  async function update(keyId: string, input: Partial<UpdateItemCommandInput>): Promise<boolean> {
    const command = new UpdateItemCommand({ ...itemKey(keyId), ...input });
    return !(await conditionFailure(client.send(command)));
  }

  return {
    get,

    async find(hash, signal) {
      const record = await get(keyIdOf(hash), signal);
      // The ID has only 64 bits of the hash: somebody could search for another text with the same ID.
      return record?.hash === hash ? record : undefined;
    },

    async add({ hash, keyId, owner, scopes, createdAt, expiresAt }) {
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
          // It never replaces another key. For a write that the SDK repeats, the condition holds as well.
          ConditionExpression: "attribute_not_exists(keyId) OR #hash = :hash",
          ExpressionAttributeNames: { "#hash": "hash" },
          ExpressionAttributeValues: { ":hash": { S: hash } },
        }),
      );
    },

    async list() {
      const stored: StoredKey[] = [];
      const input = { TableName: table, ConsistentRead: true };
      for await (const { Items = [] } of paginateScan({ client }, input))
        for (const item of Items) stored.push({ keyId: item.keyId?.S ?? "", record: toRecord(item) });
      return stored;
    },

    revoke: (keyId, now) =>
      update(keyId, {
        UpdateExpression: `${END}, revoked = :true`,
        ConditionExpression: lacks("revoked"),
        ExpressionAttributeValues: { ...endAttributes(now), ":true": { BOOL: true } },
      }),

    rotate: (keyId, at) =>
      update(keyId, {
        UpdateExpression: END,
        ConditionExpression: lacks("revokeAt"),
        ExpressionAttributeValues: endAttributes(at),
      }),
  };
}
