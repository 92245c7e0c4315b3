import {
  type AttributeValue,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { type ApiKeyRecord, hashApiKey, isScope, keyIdOf } from "../api-key.ts";
import { conditionHeld, dynamoClient } from "./client.ts";

/** When DynamoDB deletes a key, in seconds since 1970. This only cleans up: the authorizer checks the times itself. */
export const KEY_TTL_ATTRIBUTE = "deleteAt";

// An expired or revoked key stays in the operators' list for this long.
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

type Item = Record<string, AttributeValue>;

const numberAttribute = (value: number): AttributeValue => ({ N: String(value) });
const deleteAfter = (end: number) => numberAttribute(Math.ceil((end + KEPT_MS) / 1000));

const isHash = (text: string) => /^[0-9a-f]{64}$/.test(text);

/** Returns undefined for an item that a person or another program has damaged. */
function toRecord(item: Item): ApiKeyRecord | undefined {
  const { hash, name, scopes, createdAt, expiresAt, revokedAt, revoked } = item;
  if (!hash?.S || !isHash(hash.S) || name?.S === undefined || !scopes?.SS?.every(isScope)) return undefined;
  const times = {
    createdAt: Number(createdAt?.N),
    expiresAt: expiresAt && Number(expiresAt.N),
    revokedAt: revokedAt && Number(revokedAt.N),
  };
  // A Date holds 100 million days on both sides of 1970.
  const isTime = (value: number | undefined) =>
    value === undefined || !Number.isNaN(new Date(value).getTime());
  if (!Object.values(times).every(isTime)) return undefined;
  const record = { hash: hash.S, keyId: keyIdOf(hash.S), name: name.S, scopes: scopes.SS, ...times };
  return revoked ? { ...record, revoked: true } : record;
}

/** A key in the operators' list. */
export interface StoredKey {
  hash: string;
  keyId: string;
  /** undefined when the item is damaged: the key does not work, and can only be revoked */
  record: ApiKeyRecord | undefined;
}

/** A store of API keys. Its methods throw ApiError when the store fails. */
export interface KeyStore {
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
  /**
   * Revokes a key at once.
   *
   * @param now milliseconds since 1970
   * @returns false when the key does not exist or is already revoked
   */
  revoke(hash: string, now: number): Promise<boolean>;
  /**
   * Lets a key end at a time, because a successor replaces it. Concurrent calls give a key only one successor.
   *
   * @param successor ID of the key that replaces it
   * @param at in the future, or the present to revoke the key at once
   * @param now milliseconds since 1970, as `at`
   * @returns false when the key does not exist, has expired, was revoked or has another successor
   */
  replace(hash: string, successor: string, at: number, now: number): Promise<boolean>;
}

/**
 * Makes the store of API keys in a DynamoDB table. It uses DynamoDB's own attribute format, because the authorizer runs
 * before every operation and should not load the document client.
 *
 * @param table has the partition key `hash`
 * @param config replaces what suits the authorizer
 */
export function keyStore(table: string, config?: DynamoDBClientConfig): KeyStore {
  const client = dynamoClient(config);

  /** Lets a key end at a time if a condition holds. Sets each attribute to the value of its name. */
  function end(hash: string, at: number, now: number, others: Item, condition: string, operands: Item) {
    const values: Item = {
      ":revokedAt": numberAttribute(at),
      [`:${KEY_TTL_ATTRIBUTE}`]: deleteAfter(at),
      ...(at <= now && { ":revoked": { BOOL: true } }),
      ...others,
    };
    const update = new UpdateItemCommand({
      TableName: table,
      Key: { hash: { S: hash } },
      UpdateExpression: `SET ${Object.keys(values).map((value) => `${value.slice(1)} = ${value}`)}`,
      ConditionExpression: `attribute_exists(#hash) AND (${condition})`,
      ExpressionAttributeNames: { "#hash": "hash" },
      ExpressionAttributeValues: { ...values, ...operands },
    });
    return conditionHeld(client.send(update));
  }

  return {
    async find(hash, abortSignal) {
      const { Item } = await client.send(
        new GetItemCommand({ TableName: table, Key: { hash: { S: hash } }, ConsistentRead: true }),
        { abortSignal },
      );
      return Item && toRecord(Item);
    },

    async add({ hash, keyId, name, scopes, createdAt, expiresAt }) {
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: {
            hash: { S: hash },
            keyId: { S: keyId },
            name: { S: name },
            scopes: { SS: scopes },
            createdAt: numberAttribute(createdAt),
            ...(expiresAt !== undefined && {
              expiresAt: numberAttribute(expiresAt),
              [KEY_TTL_ATTRIBUTE]: deleteAfter(expiresAt),
            }),
          },
        }),
      );
    },

    async list(keyId) {
      const found: StoredKey[] = [];
      let start: Item | undefined;
      do {
        const page = await client.send(
          new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: start }),
        );
        for (const item of page.Items ?? []) {
          const hash = item.hash?.S ?? "";
          // The stored keyId is for other readers: it can be missing or name another key. A damaged hash gets an ID
          // in the form that the operators' commands accept.
          const id = keyIdOf(isHash(hash) ? hash : hashApiKey(hash));
          const stored = { hash, keyId: id, record: toRecord(item) };
          if (keyId === undefined || keyId === stored.keyId) found.push(stored);
        }
        start = page.LastEvaluatedKey;
      } while (start);
      return found;
    },

    revoke: (hash, now) =>
      end(
        hash,
        now,
        now,
        {},
        // A damaged time is none.
        "attribute_not_exists(revoked) AND (NOT attribute_type(revokedAt, :number) OR revokedAt > :revokedAt)",
        { ":number": { S: "N" } },
      ),

    replace: (hash, successor, at, now) =>
      end(
        hash,
        at,
        now,
        { ":successor": { S: successor } },
        // The SDK repeats a write whose response was lost. Then the repeated write holds as well.
        `(successor = :successor AND revokedAt = :revokedAt)
          OR (attribute_not_exists(revokedAt) AND (attribute_not_exists(expiresAt) OR expiresAt > :now))`,
        { ":now": numberAttribute(now) },
      ),
  };
}
