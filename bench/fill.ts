import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { STATUS_SHARD_ATTRIBUTE } from "../lib/dynamo/pet-store.ts";
import { PetStatus } from "../lib/pet.ts";
import { petIdAt } from "../lib/pet-id.ts";

const BATCH = 25;

/** Returns the id of the nth pet, as if the service had created one pet a second since 1 January 2026. */
export const idOf = (n: number) => petIdAt(Date.UTC(2026, 0, 1) + (n + 1) * 1000, 0);

/** The write of the nth pet. */
function putRequest(n: number) {
  const status = PetStatus.options[n % 3];
  const pet = { id: idOf(n), name: `Animal ${n}`, categoryId: 1, status };
  return { PutRequest: { Item: { ...pet, [STATUS_SHARD_ATTRIBUTE]: status, creation: randomUUID() } } };
}

/** Writes `size` pets, with the statuses in turn. */
export async function fill(table: string, size: number): Promise<void> {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  for (let first = 0; first < size; first += BATCH) {
    const length = Math.min(BATCH, size - first);
    const requests = Array.from({ length }, (_, offset) => putRequest(first + offset));
    await client.send(new BatchWriteCommand({ RequestItems: { [table]: requests } }));
  }
  client.destroy();
}
