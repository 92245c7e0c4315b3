import { randomInt, randomUUID } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { ApiError } from "../errors.ts";
import { type CreatePet, type FindPet, type ListPets, type Pet, PetStatus } from "../pet.ts";
import { claimStore } from "./claims.ts";
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

const documentClient = () =>
  DynamoDBDocumentClient.from(dynamoClient(), { unmarshallOptions: { wrapNumbers: BigInt } });

const byId = (a: Pet, b: Pet) => (a.id < b.id ? -1 : 1);

/**
 * A status is spread over several partitions of the index, the first under its own name: `sold`, `sold#1` ...
 * so that one partition's limit of about 1,000 writes a second is not the store's.
 */
const partitionOf = (status: PetStatus, shard: number) => (shard === 0 ? status : `${status}#${shard}`);

/** The item's own attributes stay in the store. */
const toPet = ({ id, name, categoryId, status }: Record<string, unknown>) =>
  ({ id, name, categoryId, status: String(status).split("#")[0] }) as Pet;

/**
 * Lists the animals of a DynamoDB table with the index `byStatus`, one Query for each partition of it: the
 * cost of a page does not grow with the table.
 *
 * @param shards over how many partitions each status is, or may be, spread
 */
export function petLister(table: string, shards: number): ListPets {
  const client = documentClient();

  // A page of at most 101 small items is far below the 1 MB at which DynamoDB would cut it short.
  async function queryPartition(partition: string, after: bigint, limit: number): Promise<Pet[]> {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: STATUS_INDEX,
        KeyConditionExpression: "#status = :partition AND id > :after",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":partition": partition, ":after": after },
        Limit: limit,
      }),
    );
    return Items.map(toPet);
  }

  return async ({ limit, status, after = 0n }) => {
    const partitions = (status ? [status] : PetStatus.options).flatMap((each) =>
      Array.from({ length: shards }, (_, shard) => partitionOf(each, shard)),
    );
    // One animal more than the page holds tells whether another page follows.
    const found = await Promise.all(partitions.map((each) => queryPartition(each, after, limit + 1)));
    const sorted = found.flat().sort(byId);
    const pets = sorted.slice(0, limit);
    return { pets, next: sorted.length > limit ? pets.at(-1)?.id : undefined };
  };
}

/** Finds animals in a DynamoDB table, as last written. */
export function petFinder(table: string): FindPet {
  const client = documentClient();
  return async (id) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: { id }, ConsistentRead: true }),
    );
    return Item && toPet(Item);
  };
}

/**
 * Adds animals to a DynamoDB table.
 *
 * @param tables the animals, and the claims of creations that must happen once
 * @param shards over how many partitions of the index each status is spread
 */
export function petCreator(
  tables: { pets: string; claims: string },
  shards: number,
): { create: CreatePet /** reads something small */; touch: () => Promise<unknown> } {
  const client = documentClient();
  const claims = claimStore(client, tables.claims, drawId);

  /** Returns false when another creation's animal has the id. */
  async function put(pet: Pet, creation: string): Promise<boolean> {
    try {
      await client.send(
        new PutCommand({
          TableName: tables.pets,
          Item: { ...pet, status: partitionOf(pet.status, randomInt(shards)), creation },
          // The same creation may write again, after its answer was lost.
          ConditionExpression: "attribute_not_exists(id) OR creation = :creation",
          ExpressionAttributeValues: { ":creation": creation },
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  }

  const create: CreatePet = async (newPet, once) => {
    const claim = once && (await claims.claim(once, newPet));
    const creation = claim?.hash ?? randomUUID();
    let id = claim?.id ?? drawId();
    for (let draw = 1; draw <= ID_DRAWS; draw++) {
      const pet = { id, ...newPet };
      if (await put(pet, creation)) return pet;
      id = claim ? await claims.redraw(claim.hash, id) : drawId();
    }
    throw new ApiError("unavailable");
  };
  return { create, touch: claims.touch };
}
