import { createHash, randomUUID } from "node:crypto";
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { ApiError } from "../errors.ts";
import { IDEMPOTENCY_SECONDS } from "../limits.ts";
import type { IdempotencyToken, NewPet } from "../pet.ts";
import { generatePetId } from "../pet-id.ts";
import { existingItem, type Item } from "./client.ts";

/** When a claim expires, in seconds since 1970. DynamoDB can delete it days later, so the code also checks the time. */
export const CLAIM_TTL_ATTRIBUTE = "expiresAt";

/** What the requests of one creation share. */
interface Claim {
  /** the claim's key in the table */
  hash: string;
  /** id of the creation: a token that is used again after 24 hours starts another creation */
  creationId: string;
  /** the id that the pet gets */
  petId: bigint;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const bigintAsText = (_name: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

/** Returns the fingerprint of a pet: two requests with the same one ask for the same pet. */
const fingerprintOf = (pet: NewPet) => sha256(JSON.stringify(Object.entries(pet).sort(), bigintAsText));

const petIdOf = (claim: Item) => BigInt(String(claim.petId?.N));

/**
 * Stores the claims that make retries of a creation safe: a retry finds the id of its pet, and repeats the same write.
 *
 * @param table has the partition key `hash`
 */
export function claimStore(client: DynamoDBDocumentClient, table: string) {
  return {
    /** Reads a claim that does not exist. */
    ping: (abortSignal: AbortSignal) =>
      client.send(new GetCommand({ TableName: table, Key: { hash: "-" } }), { abortSignal }),

    /**
     * Claims an id for a creation, or finds the claim of an earlier request. Throws ApiError `idempotency_mismatch` when
     * the token was used for another pet.
     */
    async claim(token: IdempotencyToken, pet: NewPet, abortSignal?: AbortSignal): Promise<Claim> {
      const hash = sha256(JSON.stringify([token.keyId, token.idempotencyKey]));
      const claim = { hash, creationId: randomUUID(), petId: generatePetId() };
      const fingerprint = fingerprintOf(pet);
      const now = Date.now() / 1000;
      const put = new PutCommand({
        TableName: table,
        Item: { ...claim, fingerprint, [CLAIM_TTL_ATTRIBUTE]: Math.ceil(now) + IDEMPOTENCY_SECONDS },
        ConditionExpression: `attribute_not_exists(#hash) OR ${CLAIM_TTL_ATTRIBUTE} <= :now`,
        ExpressionAttributeNames: { "#hash": "hash" },
        ExpressionAttributeValues: { ":now": Math.floor(now) },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      });
      const existing = await existingItem(client.send(put, { abortSignal }));
      if (!existing) return claim;
      if (existing.fingerprint?.S !== fingerprint) throw new ApiError("idempotency_mismatch");
      return { hash, creationId: String(existing.creationId?.S), petId: petIdOf(existing) };
    },

    /**
     * Replaces the id of a claim, because another pet has it or it is retired.
     *
     * @returns the new id, from this call or from a concurrent retry
     * @throws ApiError `unavailable` when the claim has expired
     */
    async replaceId({ hash, creationId, petId }: Claim, abortSignal?: AbortSignal): Promise<bigint> {
      const id = generatePetId();
      const update = new UpdateCommand({
        TableName: table,
        Key: { hash },
        UpdateExpression: "SET petId = :id",
        ConditionExpression: "creationId = :creationId AND petId = :taken",
        ExpressionAttributeValues: { ":id": id, ":creationId": creationId, ":taken": petId },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      });
      const existing = await existingItem(client.send(update, { abortSignal }));
      if (existing && existing.creationId?.S !== creationId) throw new ApiError("unavailable");
      return existing ? petIdOf(existing) : id;
    },
  };
}
