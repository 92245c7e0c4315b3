import {
  type AttributeValue,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { type ApiKeyRecord, hashApiKey, isScope, keyIdOf } from "../api-key.ts";
import { ApiError } from "../errors.ts";
import { conditionFailure, dynamoClient, type Item } from "./client.ts";

/** When DynamoDB deletes a key, in seconds since 1970. This only cleans up: the authorizer checks the times itself. */
export const KEY_TTL_ATTRIBUTE = "deleteAt";

// An expired or revoked key stays in the operators' list for this long.
export const RETENTION_MS = 90 * 24 * 60 * 60 * 1000;

/** A page is up to 1 MB. A server that is not DynamoDB can return pages for ever. */
export const MAX_PAGES = 10_000;

const numberAttribute = (value: number): AttributeValue => ({ N: String(value) });
const deleteAtAttribute = (end: number) => numberAttribute(Math.ceil((end + RETENTION_MS) / 1000));

// How a key ends. An end that is not in the future does not depend on a clock.
const END = `SET revokeAt = :at, ${KEY_TTL_ATTRIBUTE} = :deleteAt`;
const END_NOW = `${END}, revoked = :true`;
const endAttributes = (at: number, now: number): Item => ({
  ":at": numberAttribute(at),
  ":deleteAt": deleteAtAttribute(at),
  ...(at <= now && { ":true": { BOOL: true } }),
});

const isHash = (text: string) => /^[0-9a-f]{64}$/.test(text);

/** Returns undefined for an item that a person or another program has damaged. */
function toRecord(item: Item): ApiKeyRecord | undefined {
  const { hash, owner, scopes, createdAt, expiresAt, revokeAt, revoked } = item;
  if (!hash?.S || !isHash(hash.S) || owner?.S === undefined || !scopes?.SS?.every(isScope)) return undefined;
  const times = {
    createdAt: Number(createdAt?.N),
    expiresAt: expiresAt && Number(expiresAt.N),
    revokeAt: revokeAt && Number(revokeAt.N),
  };
  // A Date holds 100 million days on both sides of 1970.
  const isTime = (value?: number) => value === undefined || !Number.isNaN(new Date(value).getTime());
  if (!Object.values(times).every(isTime)) return undefined;
  const ended = revoked && { revoked: true as const };
  return { hash: hash.S, keyId: keyIdOf(hash.S), owner: owner.S, scopes: scopes.SS, ...times, ...ended };
}

/** A key in the operators' list. */
export interface StoredKey {
  hash: string;
  keyId: string;
  /** undefined when the item is damaged: the key does not work, and can only be revoked */
  record: ApiKeyRecord | undefined;
}

/** A store of API keys. Times are milliseconds since 1970. Its methods throw ApiError when the store fails. */
export interface ApiKeyStore {
  /** Returns the key with this hash as last written, or undefined if there is none or its item is damaged. */
  find(hash: string, signal?: AbortSignal): Promise<ApiKeyRecord | undefined>;
  /** Stores a new key. */
  add(record: ApiKeyRecord): Promise<void>;
  /**
   * Returns keys in no particular order. It reads the whole table, so only operators use it.
   *
   * @param keyId of the only key to return; without it, every key
   */
  list(keyId?: string): Promise<StoredKey[]>;
  /** Revokes a key at once. Returns false when it does not exist or was already revoked at once. */
  revoke(hash: string, now: number): Promise<boolean>;
  /**
   * Lets a key end at a time, because a successor replaces it. Concurrent calls give a key only one successor.
   *
   * @param successor ID of the key that replaces it
   * @param at in the future, or `now` to revoke the key at once
   * @returns false when the key does not exist, has expired, was revoked or has another successor
   */
  rotate(hash: string, successor: string, at: number, now: number): Promise<boolean>;
}

/**
 * Makes the store of API keys in a DynamoDB table. It uses DynamoDB's own attribute format, because the authorizer runs
 * before every operation and should not load the document client.
 *
 * @param table has the partition key `hash`
 * @param config overrides the defaults, which are tuned for the authorizer
 */
export function apiKeyStore(table: string, config?: DynamoDBClientConfig): ApiKeyStore {
  const client = dynamoClient(config);
  const itemKey = (hash: string) => ({ TableName: table, Key: { hash: { S: hash } } });

  /** Returns whether the condition held. */
  async function update(hash: string, input: Partial<UpdateItemCommandInput>): Promise<boolean> {
    const ExpressionAttributeNames = { "#hash": "hash" };
    const command = new UpdateItemCommand({ ...itemKey(hash), ExpressionAttributeNames, ...input });
    return !(await conditionFailure(client.send(command)));
  }

  return {
    async find(hash, abortSignal) {
      const command = new GetItemCommand({ ...itemKey(hash), ConsistentRead: true });
      const { Item } = await client.send(command, { abortSignal });
      return Item && toRecord(Item);
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
        }),
      );
    },

    async list(keyId) {
      const found: StoredKey[] = [];
      let start: Item | undefined;
      for (let pages = 0; pages < MAX_PAGES; pages++) {
        const scan = new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: start });
        const page = await client.send(scan);
        for (const item of page.Items ?? []) {
          const hash = item.hash?.S ?? "";
          // The stored keyId is for other readers: it can be missing or name another key. The ID for a damaged hash has
          // the form that the operators' commands accept.
          const id = keyIdOf(isHash(hash) ? hash : hashApiKey(hash));
          if (keyId === undefined || keyId === id) found.push({ hash, keyId: id, record: toRecord(item) });
        }
        start = page.LastEvaluatedKey;
        if (!start) return found;
      }
      throw new ApiError("internal_error", { cause: new Error(`it has more than ${MAX_PAGES} pages`) });
    },

    revoke: (hash, now) =>
      update(hash, {
        UpdateExpression: END_NOW,
        ConditionExpression: "attribute_exists(#hash) AND attribute_not_exists(revoked)",
        ExpressionAttributeValues: endAttributes(now, now),
      }),

    rotate: (hash, successor, at, now) =>
      update(hash, {
        UpdateExpression: `${at <= now ? END_NOW : END}, successor = :successor`,
        // The SDK repeats a write whose response was lost. Then the repeated write holds as well.
        ConditionExpression: `attribute_exists(#hash) AND ((successor = :successor AND revokeAt = :at)
          OR (attribute_not_exists(revokeAt) AND (attribute_not_exists(expiresAt) OR expiresAt > :now)))`,
        ExpressionAttributeValues: {
          ...endAttributes(at, now),
          ":successor": { S: successor },
          ":now": numberAttribute(now),
        },
      }),
  };
}
