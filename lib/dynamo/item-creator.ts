import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { creationIdOf, creationOrder, fingerprintOf, type IdempotencyToken, idOf } from "../creation.ts";
import { ApiError } from "../errors.ts";
import { conditionFailure, type Item } from "./client.ts";
import { documentClient } from "./document-client.ts";
import { ORDER_ATTRIBUTE } from "./schema.ts";

/** How many ids of a creation are tried. */
export const MAX_ID_ATTEMPTS = 5;

/**
 * Returns the item that has the id already, in DynamoDB's own attribute format, or undefined when the write was done. A later
 * read could find what others have written since.
 *
 * @param write what `send` returned for a command with `ReturnValuesOnConditionCheckFailure: "ALL_OLD"`
 * @throws ApiError `unavailable` when the condition failed and DynamoDB did not return the item
 */
async function existingItem(write: Promise<unknown>): Promise<Item | undefined> {
  const failure = await conditionFailure(write);
  if (failure && !failure.Item) throw new ApiError("unavailable", { cause: failure });
  return failure?.Item;
}

/**
 * Adds items of one kind to a DynamoDB table, each with one conditional write (docs/decisions/one-write.md).
 *
 * @param key the name of the table's partition key, a number
 */
export function itemCreator<Fields extends object>(table: string, key: string) {
  const client = documentClient();
  return {
    /**
     * Adds an item, and returns its fields with its id. Calls with the same token return the same item, even if it was
     * changed or deleted since.
     *
     * @param fields what the client sent, with defaults filled in
     * @throws ApiError `idempotency_mismatch` if the token was used with other fields; `unavailable` if a retry can succeed,
     *   or if other creations have every id that was tried; else `internal_error`, also when the signal aborts
     */
    async create(
      fields: Fields,
      token?: IdempotencyToken,
      signal?: AbortSignal,
    ): Promise<{ id: bigint } & Fields> {
      const creationId = creationIdOf(token);
      const creation = { creationId, ...(token && { fingerprint: fingerprintOf(creationId, fields) }) };
      for (let attempt = 0; attempt < MAX_ID_ATTEMPTS; attempt++) {
        const id = idOf(creationId, attempt);
        const created = { id, ...fields };
        const put = new PutCommand({
          TableName: table,
          Item: { [key]: id, ...fields, ...creation, [ORDER_ATTRIBUTE]: creationOrder(Date.now(), id) },
          ConditionExpression: `attribute_not_exists(${key})`,
          ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        });
        const existing = await existingItem(client.send(put, { abortSignal: signal }));
        if (!existing) return created;
        if (existing.creationId?.S !== creationId) continue; // another creation has the id
        if (existing.fingerprint?.S !== creation.fingerprint) throw new ApiError("idempotency_mismatch");
        return created; // an earlier attempt added it, whatever it has become
      }
      const cause = new Error(`Other creations have the first ${MAX_ID_ATTEMPTS} ids of this one.`);
      throw new ApiError("unavailable", { cause });
    },

    /** Makes a small write, for the warm-up: a read would need a grant to read every item. Its condition never holds. */
    ping(signal: AbortSignal) {
      const ConditionExpression = `attribute_exists(${key}) AND attribute_not_exists(${key})`;
      const put = new PutCommand({ TableName: table, Item: { [key]: 0n }, ConditionExpression });
      return client.send(put, { abortSignal: signal });
    },
  };
}
