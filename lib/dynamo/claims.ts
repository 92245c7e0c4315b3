import { createHash } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { ApiError } from "../errors.ts";
import { IDEMPOTENCY_SECONDS } from "../idempotency-key.ts";
import type { NewPet, Once } from "../pet.ts";

/** When DynamoDB may delete a claim, in seconds since 1970. It can take days, so the time is checked as well. */
export const CLAIM_TTL_ATTRIBUTE = "expiresAt";

const ATTEMPTS = 5;

const sha256 = (parts: string[]) => createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/**
 * The claims on ids by which a creation that is sent again stays one creation: the claim is written before
 * the animal, so a retry finds the id that was drawn and finishes or repeats the same write.
 *
 * @param table name of the table, its partition key `hash`
 * @param drawId makes an id that is hardly taken
 */
export function claimStore(client: DynamoDBDocumentClient, table: string, drawId: () => bigint) {
  const read = async (hash: string) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: { hash }, ConsistentRead: true }),
    );
    return Item;
  };

  return {
    /** Reads a claim that nobody has. */
    touch: () => read("-"),

    /**
     * Claims an id for a creation, or finds the one that was claimed before.
     *
     * @returns the claim's hash and the id
     * @throws ApiError `idempotency_mismatch` when the key was used for another animal
     */
    async claim(once: Once, pet: NewPet): Promise<{ hash: string; id: bigint }> {
      const hash = sha256([once.caller, once.key]);
      const fingerprint = sha256([pet.name, String(pet.categoryId), pet.status]);
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const id = drawId();
        const now = Math.floor(Date.now() / 1000);
        try {
          await client.send(
            new PutCommand({
              TableName: table,
              Item: { hash, fingerprint, petId: id, [CLAIM_TTL_ATTRIBUTE]: now + IDEMPOTENCY_SECONDS },
              ConditionExpression: `attribute_not_exists(#hash) OR ${CLAIM_TTL_ATTRIBUTE} <= :now`,
              ExpressionAttributeNames: { "#hash": "hash" },
              ExpressionAttributeValues: { ":now": now },
            }),
          );
          return { hash, id };
        } catch (error) {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
        }
        const claim = await read(hash);
        // It may have expired, or been deleted, since it stood in the way.
        if (!claim || claim[CLAIM_TTL_ATTRIBUTE] <= now) continue;
        if (claim.fingerprint !== fingerprint) throw new ApiError("idempotency_mismatch");
        return { hash, id: claim.petId };
      }
      throw new ApiError("unavailable");
    },

    /**
     * Gives a claim a new id, because another animal has the old one.
     *
     * @returns the new id, which a concurrent retry may have drawn
     */
    async redraw(hash: string, taken: bigint): Promise<bigint> {
      const id = drawId();
      try {
        await client.send(
          new UpdateCommand({
            TableName: table,
            Key: { hash },
            UpdateExpression: "SET petId = :id",
            ConditionExpression: "petId = :taken",
            ExpressionAttributeValues: { ":id": id, ":taken": taken },
          }),
        );
        return id;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
      const claim = await read(hash);
      if (!claim) throw new ApiError("unavailable");
      return claim.petId;
    },
  };
}
