import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { ApiKeyRecord, Scope } from "../api-key.ts";
import { dynamoClient } from "./client.ts";

/** What the service asks of a store of API keys. Its methods throw ApiError when the store fails. */
export interface KeyStore {
  /** Returns the key with this hash as last written, or undefined. */
  find(hash: string): Promise<ApiKeyRecord | undefined>;
  /** Stores a key, in place of any with the same hash. */
  put(record: ApiKeyRecord): Promise<void>;
}

/**
 * The API keys in a DynamoDB table. It speaks DynamoDB's own attribute format, so that the
 * authorizer, which runs before every operation, need not load the document client.
 *
 * @param table name of the table, its partition key `hash`
 */
export function keyStore(table: string): KeyStore {
  const client = dynamoClient();
  return {
    async find(hash) {
      const { Item } = await client.send(
        new GetItemCommand({ TableName: table, Key: { hash: { S: hash } }, ConsistentRead: true }),
      );
      return (
        Item && {
          hash,
          keyId: Item.keyId?.S ?? "",
          name: Item.name?.S ?? "",
          scopes: (Item.scopes?.SS ?? []) as Scope[],
          createdAt: Number(Item.createdAt?.N),
        }
      );
    },

    async put({ hash, keyId, name, scopes, createdAt }) {
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: {
            hash: { S: hash },
            keyId: { S: keyId },
            name: { S: name },
            scopes: { SS: scopes },
            createdAt: { N: String(createdAt) },
          },
        }),
      );
    },
  };
}
