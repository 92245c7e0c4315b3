import { createHash } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { ApiError } from "../errors.ts";
import { IDEMPOTENCY_SECONDS } from "../limits.ts";
import type { IdempotencyToken, NewPet } from "../pet.ts";
import { drawId } from "../pet-id.ts";

/** When a claim expires, in seconds since 1970. DynamoDB deletes it days later, so the code checks the time as well. */
export const CLAIM_TTL_ATTRIBUTE = "expiresAt";

const ATTEMPTS = 5;

const sha256 = (parts: string[]) => createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/**
 * The claims on ids that make retries of a creation safe. A creation writes its claim before the pet, so a retry finds
 * the id in the claim and finishes or repeats the same write.
 *
 * @param table has the partition key `hash`
 */
export function claimStore(client: DynamoDBDocumentClient, table: string) {
  const read = async (hash: string, abortSignal?: AbortSignal) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: { hash }, ConsistentRead: true }),
      { abortSignal },
    );
    return Item;
  };

  return {
    /** Reads a claim that does not exist. */
    ping: (signal: AbortSignal) => read("-", signal),

    /**
     * Claims an id for a creation, or finds the id that an earlier request claimed.
     *
     * @returns the claim's hash and the id
     * @throws ApiError `idempotency_mismatch` when the token was used for another pet
     */
    async claim(token: IdempotencyToken, pet: NewPet): Promise<{ hash: string; id: bigint }> {
      const hash = sha256([token.caller, token.key]);
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
        // It can have expired, or been deleted, since the write failed.
        if (!claim || claim[CLAIM_TTL_ATTRIBUTE] <= now) continue;
        if (claim.fingerprint !== fingerprint) throw new ApiError("idempotency_mismatch");
        return { hash, id: claim.petId };
      }
      throw new ApiError("unavailable");
    },

    /**
     * Replaces the id of a claim, because another pet has it.
     *
     * @returns the new id, which a concurrent retry can have drawn
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
