import { randomInt, randomUUID } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { ApiError } from "../errors.ts";
import { type Pet, PetStatus, type PetStore } from "../pet.ts";
import { dynamoClient } from "./client.ts";

/** The index that holds every animal under its status, in order of id. */
export const STATUS_INDEX = "byStatus";

const EPOCH = Date.UTC(2026, 0, 1);
const RANDOM_RANGE = 2 ** 12;
const ID_DRAWS = 5;

/**
 * Draws an id without a counter: milliseconds since 2026 above 12 random bits. It stays below 2^53
 * until 2095, and animals added in different milliseconds are in order of creation.
 */
function drawId(): bigint {
  return BigInt((Date.now() - EPOCH) * RANDOM_RANGE + randomInt(RANDOM_RANGE));
}

const byId = (a: Pet, b: Pet) => (a.id < b.id ? -1 : 1);

/** The item's own attributes stay in the store. */
const toPet = ({ id, name, categoryId, status }: Record<string, unknown>) =>
  ({ id, name, categoryId, status }) as Pet;

/**
 * The animals in a DynamoDB table.
 *
 * @param table name of the table, its partition key `id`, with the index `byStatus`
 */
export function petStore(table: string): PetStore {
  const client = DynamoDBDocumentClient.from(dynamoClient(), {
    unmarshallOptions: { wrapNumbers: BigInt },
  });

  // A page of at most 101 small items is far below the 1 MB at which DynamoDB would cut it short.
  async function queryStatus(status: PetStatus, after: bigint, limit: number): Promise<Pet[]> {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: STATUS_INDEX,
        KeyConditionExpression: "#status = :status AND id > :after",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":status": status, ":after": after },
        Limit: limit,
      }),
    );
    return Items.map(toPet);
  }

  return {
    async list({ limit, status, after = 0n }) {
      // One animal more than the page holds tells whether another page follows.
      const statuses = status ? [status] : PetStatus.options;
      const found = await Promise.all(statuses.map((each) => queryStatus(each, after, limit + 1)));
      const sorted = found.flat().sort(byId);
      const pets = sorted.slice(0, limit);
      return { pets, next: sorted.length > limit ? pets.at(-1)?.id : undefined };
    },

    async create(newPet) {
      // Tells this creation's own put, repeated after a lost answer, from another animal with the same id.
      const creation = randomUUID();
      for (let draw = 1; draw <= ID_DRAWS; draw++) {
        const pet = { id: drawId(), ...newPet };
        try {
          await client.send(
            new PutCommand({
              TableName: table,
              Item: { ...pet, creation },
              ConditionExpression: "attribute_not_exists(id) OR creation = :creation",
              ExpressionAttributeValues: { ":creation": creation },
            }),
          );
          return pet;
        } catch (error) {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
        }
      }
      throw new ApiError("unavailable");
    },

    async get(id) {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: { id }, ConsistentRead: true }),
      );
      return Item && toPet(Item);
    },
  };
}
