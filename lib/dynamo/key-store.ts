import {
  type AttributeValue,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { ApiKeyRecord, Scope } from "../api-key.ts";
import { conditionHeld, dynamoClient } from "./client.ts";

/** When DynamoDB deletes a key, in seconds since 1970. This only cleans up: the authorizer checks the times itself. */
export const KEY_TTL_ATTRIBUTE = "deleteAt";

// An expired or revoked key stays in the operators' list for this long.
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** An item of the table, as `add` and `revoke` write it. */
type KeyItem = Record<"hash" | "keyId" | "name", AttributeValue.SMember> & {
  scopes: AttributeValue.SSMember;
  createdAt: AttributeValue.NMember;
  expiresAt?: AttributeValue.NMember;
  revokedAt?: AttributeValue.NMember;
};

const numberAttribute = (value: number): AttributeValue => ({ N: String(value) });
const deleteAfter = (end: number) => numberAttribute(Math.ceil((end + KEPT_MS) / 1000));

function toRecord(item: Record<string, AttributeValue>): ApiKeyRecord {
  const { hash, keyId, name, scopes, createdAt, expiresAt, revokedAt } = item as KeyItem;
  return {
    hash: hash.S,
    keyId: keyId.S,
    name: name.S,
    scopes: scopes.SS as Scope[],
    createdAt: Number(createdAt.N),
    expiresAt: expiresAt && Number(expiresAt.N),
    revokedAt: revokedAt && Number(revokedAt.N),
  };
}

/** A store of API keys. Its methods throw ApiError when the store fails. */
export interface KeyStore {
  /** Returns the key with this hash as last written, or undefined. */
  find(hash: string, signal?: AbortSignal): Promise<ApiKeyRecord | undefined>;
  /** Stores a new key. */
  add(record: ApiKeyRecord): Promise<void>;
  /** Returns every key, in no particular order. It reads the whole table, so only operators use it. */
  list(): Promise<ApiKeyRecord[]>;
  /**
   * Revokes a key at a time, now or in the future.
   *
   * @returns false when the key does not exist or is already revoked at that time
   */
  revoke(hash: string, at: number): Promise<boolean>;
}

/**
 * Makes the store of API keys in a DynamoDB table. It uses DynamoDB's own attribute format, because the authorizer runs
 * before every operation and should not load the document client.
 *
 * @param table has the partition key `hash`
 * @param credentials without them, the SDK looks for credentials itself
 */
export function keyStore(table: string, credentials?: DynamoDBClientConfig["credentials"]): KeyStore {
  const client = dynamoClient(credentials);
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

    async list() {
      const records: ApiKeyRecord[] = [];
      let start: Record<string, AttributeValue> | undefined;
      do {
        const page = await client.send(
          new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: start }),
        );
        records.push(...(page.Items ?? []).map(toRecord));
        start = page.LastEvaluatedKey;
      } while (start);
      return records;
    },

    async revoke(hash, at) {
      const update = new UpdateItemCommand({
        TableName: table,
        Key: { hash: { S: hash } },
        UpdateExpression: `SET revokedAt = :at, ${KEY_TTL_ATTRIBUTE} = :deleteAt`,
        ConditionExpression:
          "attribute_exists(keyId) AND (attribute_not_exists(revokedAt) OR revokedAt > :at)",
        ExpressionAttributeValues: { ":at": numberAttribute(at), ":deleteAt": deleteAfter(at) },
      });
      return await conditionHeld(client.send(update));
    },
  };
}
