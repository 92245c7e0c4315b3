import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { STATUS_SHARD_ATTRIBUTE } from "../lib/dynamo/pet-store.ts";
import { PetStatus } from "../lib/pet.ts";
import { petIdAt } from "../lib/pet-id.ts";

const BATCH = 25;
const WRITERS = 4;

/** Returns the id of the nth pet, as if the service had created one pet a second since 1 January 2026. */
export const idOf = (n: number) => petIdAt(Date.UTC(2026, 0, 1) + (n + 1) * 1000, 0);

/** Writes `size` pets, with the statuses in turn. */
export async function fill(table: string, size: number): Promise<void> {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  let next = 0;
  const write = async () => {
    while (next < size) {
      const first = next;
      next = Math.min(size, next + BATCH);
      const requests = Array.from({ length: next - first }, (_, offset) => {
        const n = first + offset;
        const status = PetStatus.options[n % 3];
        return {
          PutRequest: {
            Item: {
              id: idOf(n),
              name: `Animal ${n}`,
              categoryId: 1,
              status,
              [STATUS_SHARD_ATTRIBUTE]: status,
              creation: randomUUID(),
            },
          },
        };
      });
      await client.send(new BatchWriteCommand({ RequestItems: { [table]: requests } }));
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  client.destroy();
}
