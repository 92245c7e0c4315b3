import { randomUUID } from "node:crypto";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { conditionFailure, dynamoClient } from "../../lib/dynamo/client.ts";
import { ORDER_ATTRIBUTE, toPet } from "../../lib/dynamo/pet-store.ts";
import { ApiError } from "../../lib/errors.ts";
import { Pet, type PetStatus } from "../../lib/pet.ts";

// Methods of a store that changes and deletes pets, by the rules of docs/decisions/one-write.md. No operation has
// them yet: tests run them beside creations, and CONTRIBUTING.md shows them as examples.

// Only a pet has the attribute, a retired id does not.
const ConditionExpression = `attribute_exists(${ORDER_ATTRIBUTE})`;

const { id: _, ...fields } = Pet.shape;
const names = Object.keys(fields).map((name) => [`#${name}`, name]);

/**
 * The update that deletes a pet: its fields go, and its id stays with the creation, so that a retry adds nothing.
 *
 * @param deletionId tells a repeated write that it was the first deletion
 */
export const deletion = (deletionId: string) => ({
  UpdateExpression: `SET deletionId = :deletionId REMOVE ${ORDER_ATTRIBUTE}, ${names.map(([alias]) => alias).join(", ")}`,
  ConditionExpression,
  ExpressionAttributeNames: Object.fromEntries(names),
  ExpressionAttributeValues: { ":deletionId": deletionId },
});

export function trialOperations(TableName: string) {
  const client = DynamoDBDocumentClient.from(dynamoClient(), { unmarshallOptions: { wrapNumbers: BigInt } });

  return {
    /** Gives a pet another status. Returns the pet, or undefined if there is none. */
    async changeStatus(id: bigint, status: PetStatus, abortSignal?: AbortSignal): Promise<Pet | undefined> {
      const update = new UpdateCommand({
        TableName,
        Key: { id },
        UpdateExpression: "SET #status = :status",
        ConditionExpression,
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":status": status },
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
      const deletionId = randomUUID();
      const update = new UpdateCommand({
        TableName,
        Key: { id },
        ...deletion(deletionId),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      });
      const failure = await conditionFailure(client.send(update, { abortSignal }));
      // The SDK repeats a write whose response was lost, and finds what it has written. An id that no pet had has no item.
      return !failure || failure.Item?.deletionId?.S === deletionId;
    },
  };
}
