import { createHash, randomUUID } from "node:crypto";
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { ApiError } from "../errors.ts";
import { IDEMPOTENCY_SECONDS } from "../limits.ts";
import type { IdempotencyToken, NewPet } from "../pet.ts";
import { generatePetId } from "../pet-id.ts";
import { conditionHeld } from "./client.ts";

/** When a claim expires, in seconds since 1970. DynamoDB can delete it days later, so the code also checks the time. */
export const CLAIM_TTL_ATTRIBUTE = "expiresAt";

/** What the requests of one creation share. */
interface Claim {
  /** the claim's key in the table */
  hash: string;
  /** id of the creation: a token that is used again after 24 hours starts another creation */
  creation: string;
  /** the id that the pet gets */
  petId: bigint;
}

const ATTEMPTS = 5;

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Returns the fingerprint of a pet: two requests with the same one ask for the same pet. */
const fingerprintOf = (pet: NewPet) =>
  sha256(
    JSON.stringify(Object.entries(pet).sort(), (_name, value) =>
      typeof value === "bigint" ? String(value) : value,
    ),
  );

/**
 * Stores the claims that make retries of a creation safe. A creation writes its claim before the pet, so a retry finds
 * the id in the claim and repeats the same write.
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
     * Claims an id for a creation, or finds the claim of an earlier request.
     *
     * @throws ApiError `idempotency_mismatch` when the token was used for another pet
     */
    async claim(token: IdempotencyToken, pet: NewPet): Promise<Claim> {
      const hash = sha256(JSON.stringify([token.keyId, token.key]));
      const fingerprint = fingerprintOf(pet);
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const claim = { hash, creation: randomUUID(), petId: generatePetId() };
        const now = Date.now() / 1000;
        const expiresAt = Math.ceil(now) + IDEMPOTENCY_SECONDS;
        const put = new PutCommand({
          TableName: table,
          Item: { ...claim, fingerprint, [CLAIM_TTL_ATTRIBUTE]: expiresAt },
          ConditionExpression: `attribute_not_exists(#hash) OR ${CLAIM_TTL_ATTRIBUTE} <= :now`,
          ExpressionAttributeNames: { "#hash": "hash" },
          ExpressionAttributeValues: { ":now": Math.floor(now) },
        });
        if (await conditionHeld(client.send(put))) return claim;

        const found = await read(hash);
        if (!found) continue; // DynamoDB has deleted the claim since the write failed
        if (found.fingerprint !== fingerprint) throw new ApiError("idempotency_mismatch");
        return { hash, creation: found.creation, petId: found.petId };
      }
      throw new ApiError("unavailable");
    },

    /**
     * Replaces the id of a claim, because another pet has it or it is retired.
     *
     * @returns the new id, from this call or from a concurrent retry
     * @throws ApiError `unavailable` when the claim has expired
     */
    async replaceId({ hash, creation, petId }: Claim): Promise<bigint> {
      const id = generatePetId();
      const update = new UpdateCommand({
        TableName: table,
        Key: { hash },
        UpdateExpression: "SET petId = :id",
        ConditionExpression: "creation = :creation AND petId = :taken",
        ExpressionAttributeValues: { ":id": id, ":creation": creation, ":taken": petId },
      });
      if (await conditionHeld(client.send(update))) return id;

      const found = await read(hash);
      if (found?.creation !== creation) throw new ApiError("unavailable");
      return found.petId;
    },
  };
}
