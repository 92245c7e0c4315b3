import { randomUUID } from "node:crypto";
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { ApiError } from "../errors.ts";
import { Pet, type PetCreator, type PetFinder, type PetLister, type PetQuery, PetStatus } from "../pet.ts";
import { generatePetId, isStalePetId } from "../pet-id.ts";
import { claimStore } from "./claim-store.ts";
import { conditionHeld, dynamoClient } from "./client.ts";

/** The index that lists the pets of a status in order of id. */
export const STATUS_INDEX = "byStatus";

/** The partition key of the index. Its sort key is `id`. */
export const STATUS_SHARD_ATTRIBUTE = "statusShard";

const MAX_ID_ATTEMPTS = 5;

const documentClient = () =>
  DynamoDBDocumentClient.from(dynamoClient(), { unmarshallOptions: { wrapNumbers: BigInt } });

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
export function petLister(table: string, shards: number): PetLister {
  const client = documentClient();

  // A page of at most 101 small items stays far below 1 MB, at which DynamoDB splits a response.
  async function queryShard(
    shard: string,
    { limit, after = 0n }: PetQuery,
    abortSignal: AbortSignal | undefined,
  ): Promise<Pet[]> {
    const { Items } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: STATUS_INDEX,
        KeyConditionExpression: `${STATUS_SHARD_ATTRIBUTE} = :shard AND id > :after`,
        ExpressionAttributeValues: { ":shard": shard, ":after": after },
        Limit: limit + 1, // one pet more than the page holds shows whether another page follows
      }),
      { abortSignal },
    );
    if (!Items) throw new ApiError("unavailable"); // the response was empty
    return Items.map(toPet);
  }

  return async (query, signal) => {
    const { limit, status } = query;
    const statuses = status ? [status] : PetStatus.options;
    const partitions = statuses.flatMap((value) =>
      Array.from({ length: shards }, (_, shard) => statusShard(value, shard)),
    );
    const found = await Promise.all(partitions.map((shard) => queryShard(shard, query, signal)));
    const sorted = found.flat().sort((a, b) => Number(a.id - b.id));
    const pets = sorted.slice(0, limit);
    const last = sorted.length > limit ? pets.at(-1) : undefined;
    return { pets, next: last?.id };
  };
}

/** Finds pets in a DynamoDB table, as last written. */
export function petFinder(table: string): PetFinder {
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
 * Makes the item of a pet. Every write of a pet uses it, so that the index lists the pet under the status that it has.
 *
 * @param creation id of the creation that added the pet: a retry recognizes its pet by it
 * @param shards the number of index partitions for each status
 */
export const petItem = (pet: Pet, creation: string, shards: number) => ({
  ...pet,
  // The id determines the shard, so that a pet that is written again stays in the same one of its status.
  [STATUS_SHARD_ATTRIBUTE]: statusShard(pet.status, Number(pet.id % BigInt(shards))),
  creation,
});

/**
 * Adds pets to a DynamoDB table (docs/decisions/claim-then-put.md).
 *
 * @param tables names of the tables of pets and of claims (claim-store.ts)
 * @param shards the number of index partitions for each status
 */
export function creationStore(tables: { pets: string; claims: string }, shards: number) {
  const client = documentClient();
  const claims = claimStore(client, tables.claims);

  /** Returns false when an item has the id. */
  const putIfFree = (Item: Record<string, unknown>, abortSignal: AbortSignal | undefined) =>
    conditionHeld(
      client.send(
        new PutCommand({ TableName: tables.pets, Item, ConditionExpression: "attribute_not_exists(id)" }),
        { abortSignal },
      ),
    );

  /** Returns the creation of the item that has an id, or undefined when the id is retired. */
  async function creationOf(id: bigint, abortSignal: AbortSignal | undefined): Promise<string | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName: tables.pets, Key: { id }, ConsistentRead: true }),
      { abortSignal },
    );
    // Without the item, nobody knows whether the creation has happened. Another id could add a second pet.
    if (!Item) throw new ApiError("unavailable");
    return Item.creation;
  }

  const create: PetCreator = async (newPet, token, signal) => {
    const claim = token && (await claims.claim(token, newPet));
    const creation = claim?.creation ?? randomUUID();
    let id = claim?.petId ?? generatePetId();
    for (let attempt = 1; attempt <= MAX_ID_ATTEMPTS; attempt++) {
      const pet = { id, ...newPet };
      // A retry found it in a claim. Nobody adds a pet with a retired id, also not an earlier attempt that still runs.
      const stale = isStalePetId(id);
      const wasFree = await putIfFree(stale ? { id } : petItem(pet, creation, shards), signal);
      if (wasFree && !stale) return pet;
      // The creation has happened, whatever the pet has become: an earlier attempt or a repeated write added it.
      if (!wasFree && (await creationOf(id, signal)) === creation) return pet;
      id = claim ? await claims.replaceId({ ...claim, petId: id }) : generatePetId();
    }
    throw new ApiError("unavailable");
  };
  return { create, ping: claims.ping };
}
