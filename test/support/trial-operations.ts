import { randomUUID } from "node:crypto";
import { DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { conditionFailure, dynamoClient, existingItem } from "../../lib/dynamo/client.ts";
import { retiredItem, STATUS_SHARD_ATTRIBUTE, statusShardOf, toPet } from "../../lib/dynamo/pet-store.ts";
import { ApiError } from "../../lib/errors.ts";
import type { Pet, PetStatus } from "../../lib/pet.ts";

// Methods of a store that changes and deletes pets, by the rules of docs/decisions/claim-then-put.md. No operation has
// them yet: tests run them beside creations, and CONTRIBUTING.md shows them as examples.

/** @param shards the number of index partitions for each status */
export function trialOperations(TableName: string, shards: number) {
  const client = DynamoDBDocumentClient.from(dynamoClient(), { unmarshallOptions: { wrapNumbers: BigInt } });
  // Only a pet has the attribute, a retired id does not.
  const ConditionExpression = `attribute_exists(${STATUS_SHARD_ATTRIBUTE})`;
  const ReturnValuesOnConditionCheckFailure = "ALL_OLD";

  return {
    /** Gives a pet another status. Returns the pet, or undefined if there is none. */
    async changeStatus(id: bigint, status: PetStatus, abortSignal?: AbortSignal): Promise<Pet | undefined> {
      const update = new UpdateCommand({
        TableName,
        Key: { id },
        UpdateExpression: `SET #status = :status, ${STATUS_SHARD_ATTRIBUTE} = :shard`,
        ConditionExpression,
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":status": status, ":shard": statusShardOf({ id, status }, shards) },
        ReturnValues: "ALL_NEW",
      });
      const updating = client.send(update, { abortSignal });
      if (await conditionFailure(updating)) return undefined;
      const { Attributes } = await updating;
      if (!Attributes) throw new ApiError("unavailable"); // the response was empty
      return toPet(Attributes);
    },

    /** Deletes a pet. Returns false if there is no pet. */
    async deletePet(id: bigint, abortSignal?: AbortSignal): Promise<boolean> {
      const get = new GetCommand({ TableName, Key: { id }, ConsistentRead: true });
      const { Item } = await client.send(get, { abortSignal });
      if (!Item?.[STATUS_SHARD_ATTRIBUTE]) return false;
      const deletionId = randomUUID();
      const put = new PutCommand({
        TableName,
        Item: retiredItem(id, { creationId: Item.creationId, deletionId }),
        ConditionExpression,
        ReturnValuesOnConditionCheckFailure,
      });
      const existing = await existingItem(client.send(put, { abortSignal }));
      // The SDK repeats a write whose response was lost, and finds what it has written.
      return !existing || existing.deletionId?.S === deletionId;
    },
  };
}
