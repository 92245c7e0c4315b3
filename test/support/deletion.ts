import { type DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { conditionFailure } from "../../lib/dynamo/client.ts";
import { ORDER_ATTRIBUTE } from "../../lib/dynamo/item-creator.ts";
import { Pet } from "../../lib/pet.ts";

const { id: _, ...fields } = Pet.shape;
const names = Object.keys(fields).map((name) => [`#${name}`, name]);

/**
 * The update that deletes a pet by the rules of docs/decisions/one-write.md: its fields go, and its id stays with the
 * creation, so that a retry adds nothing. No operation sends it: operators do, as docs/incidents.md says.
 */
export const deletion = (deletionId: string) => ({
  UpdateExpression: `SET deletionId = :deletionId REMOVE ${ORDER_ATTRIBUTE}, ${names.map(([alias]) => alias).join(", ")}`,
  // Only a pet has the attribute, a retired id does not.
  ConditionExpression: `attribute_exists(${ORDER_ATTRIBUTE})`,
  ExpressionAttributeNames: Object.fromEntries(names),
  ExpressionAttributeValues: { ":deletionId": deletionId },
});

/** Deletes a pet. @returns false if there is no pet */
export async function deletePet(
  client: DynamoDBDocumentClient,
  TableName: string,
  id: bigint,
): Promise<boolean> {
  const update = new UpdateCommand({ TableName, Key: { id }, ...deletion("test") });
  return !(await conditionFailure(client.send(update)));
}
