import { randomUUID } from "node:crypto";
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { ApiError } from "../errors.ts";
import { type CreatePet, type FindPet, type ListPets, Pet, type PetQuery, PetStatus } from "../pet.ts";
import { generatePetId, isStalePetId } from "../pet-id.ts";
import { claimStore } from "./claims.ts";
import { conditionHeld, dynamoClient } from "./client.ts";

/** The index that lists the pets of a status in order of id. */
export const STATUS_INDEX = "byStatus";

/** The partition key of the index. Its sort key is `id`. */
export const STATUS_SHARD_ATTRIBUTE = "statusShard";

const MAX_ID_ATTEMPTS = 5;

const documentClient = () =>
  DynamoDBDocumentClient.from(dynamoClient(), { unmarshallOptions: { wrapNumbers: BigInt } });

const byId = (a: Pet, b: Pet) => Number(a.id - b.id);

/**
 * Names a partition of the index: `sold`, `sold#1`, `sold#2` ... One partition is limited to about 1,000 writes a second,
 * so several partitions for each status raise the limit of the store.
 *
 * @param shard from 0
 */
const statusShard = (status: PetStatus, shard: number) => (shard === 0 ? status : `${status}#${shard}`);

const memberNames = Object.keys(Pet.shape);

/** Removes the store's own attributes. A pet that was stored before a member existed does not get it. */
const toPet = (item: Record<string, unknown>) =>
  Object.fromEntries(memberNames.flatMap((name) => (name in item ? [[name, item[name]]] : []))) as Pet;

/**
 * Lists the pets of a DynamoDB table with one Query for each partition of the index, so that the cost of a page does
 * not grow with the table.
 *
 * @param shards the number of partitions for each status
 */
export function petLister(table: string, shards: number): ListPets {
  const client = documentClient();

  // A page of at most 101 small items stays far below 1 MB, at which DynamoDB splits a response.
  async function queryShard(
    shard: string,
    { limit, after = 0n }: PetQuery,
    abortSignal: AbortSignal | undefined,
  ): Promise<Pet[]> {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: STATUS_INDEX,
        KeyConditionExpression: `${STATUS_SHARD_ATTRIBUTE} = :shard AND id > :after`,
        ExpressionAttributeValues: { ":shard": shard, ":after": after },
        Limit: limit + 1, // one pet more than the page holds shows whether another page follows
      }),
      { abortSignal },
    );
    return Items.map(toPet);
  }

  return async (query, signal) => {
    const { limit, status } = query;
    const statuses = status ? [status] : PetStatus.options;
    const partitions = statuses.flatMap((value) =>
      Array.from({ length: shards }, (_, shard) => statusShard(value, shard)),
    );
    const found = await Promise.all(partitions.map((shard) => queryShard(shard, query, signal)));
    const sorted = found.flat().sort(byId);
    const pets = sorted.slice(0, limit);
    const last = sorted.length > limit ? pets.at(-1) : undefined;
    return { pets, next: last?.id };
  };
}

/** Finds pets in a DynamoDB table, as last written. */
export function petFinder(table: string): FindPet {
  const client = documentClient();
  return async (id, abortSignal) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: { id }, ConsistentRead: true }),
      { abortSignal },
    );
    return Item?.[STATUS_SHARD_ATTRIBUTE] ? toPet(Item) : undefined; // without it, the id is retired
  };
}

/**
 * Adds pets to a DynamoDB table.
 *
 * @param tables names of the tables of pets and of claims (claims.ts)
 * @param shards the number of index partitions for each status
 */
export function petCreator(tables: { pets: string; claims: string }, shards: number) {
  const client = documentClient();
  const claims = claimStore(client, tables.claims);

  /** Returns false when the pet of another creation has the id. */
  const put = (pet: Pet, creation: string, abortSignal: AbortSignal | undefined) =>
    conditionHeld(
      client.send(
        new PutCommand({
          TableName: tables.pets,
          Item: {
            ...pet,
            // The id determines the shard, so that a repeated write puts the pet into the same partition of the index.
            [STATUS_SHARD_ATTRIBUTE]: statusShard(pet.status, Number(pet.id % BigInt(shards))),
            creation,
          },
          // The same creation can write again, after its response was lost.
          ConditionExpression: "attribute_not_exists(id) OR creation = :creation",
          ExpressionAttributeValues: { ":creation": creation },
        }),
        { abortSignal },
      ),
    );

  /** Makes sure that no pet gets an id, unless one has it. No index contains the item. */
  const retire = (id: bigint) =>
    conditionHeld(
      client.send(
        new PutCommand({
          TableName: tables.pets,
          Item: { id },
          ConditionExpression: "attribute_not_exists(id)",
        }),
      ),
    );

  const create: CreatePet = async (newPet, token, signal) => {
    const claim = token && (await claims.claim(token, newPet));
    const creation = claim?.creation ?? randomUUID();
    let id = claim?.petId ?? generatePetId();
    for (let attempt = 1; attempt <= MAX_ID_ATTEMPTS; attempt++) {
      // A retry found it in a claim. An earlier attempt can still write the pet, but not with a retired id.
      if (isStalePetId(id)) await retire(id);
      const pet = { id, ...newPet };
      if (await put(pet, creation, signal)) return pet;
      id = claim ? await claims.replaceId({ ...claim, petId: id }) : generatePetId();
    }
    throw new ApiError("unavailable");
  };
  return { create, ping: claims.ping };
}
