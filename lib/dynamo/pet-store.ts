import { randomUUID } from "node:crypto";
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { ApiError } from "../errors.ts";
import { Pet, type PetCreator, type PetFinder, type PetLister, type PetQuery, PetStatus } from "../pet.ts";
import { generatePetId, isStalePetId } from "../pet-id.ts";
import { claimStore } from "./claim-store.ts";
import { dynamoClient, existingItem } from "./client.ts";

/** The index that lists the pets of a status in order of id. */
export const STATUS_INDEX = "byStatus";

/** The partition key of the index. Its sort key is `id`. */
export const STATUS_SHARD_ATTRIBUTE = "statusShard";

export const MAX_ID_ATTEMPTS = 5;

const documentClient = () =>
  DynamoDBDocumentClient.from(dynamoClient(), { unmarshallOptions: { wrapNumbers: BigInt } });

/** Names a partition of the index: `sold`, `sold#1`, `sold#2` ... (docs/decisions/scaling-limits.md). */
const shardName = (status: PetStatus, shard: number) => (shard === 0 ? status : `${status}#${shard}`);

/** Names the partition of a pet. Its id determines the shard, which stays the same when the pet is written again. */
export const statusShardOf = ({ id, status }: Pick<Pet, "id" | "status">, shards: number) =>
  shardName(status, Number(id % BigInt(shards)));

const fieldNames = Object.keys(Pet.shape);

/** Removes the store's own attributes. A pet that was stored before a field existed does not get it. */
export const toPet = (item: Record<string, unknown>) =>
  Object.fromEntries(fieldNames.flatMap((name) => (name in item ? [[name, item[name]]] : []))) as Pet;

/**
 * Lists the pets of a DynamoDB table with one Query for each partition of the index, so that the cost of a page does
 * not grow with the table.
 *
 * @param shards the number of partitions for each status
 */
export function petLister(table: string, shards: number): PetLister {
  const client = documentClient();

  // A page of at most 101 small items stays far below 1 MB, at which DynamoDB splits a response.
  const queryShard = async (shard: string, { limit, after = 0n }: PetQuery, abortSignal?: AbortSignal) => {
    const command = new QueryCommand({
      TableName: table,
      IndexName: STATUS_INDEX,
      KeyConditionExpression: `${STATUS_SHARD_ATTRIBUTE} = :shard AND id > :after`,
      ExpressionAttributeValues: { ":shard": shard, ":after": after },
      Limit: limit + 1, // one pet more than the page holds shows whether another page follows
    });
    const { Items } = await client.send(command, { abortSignal });
    if (!Items) throw new ApiError("unavailable"); // the response was empty
    return Items.map(toPet);
  };

  const list: PetLister["list"] = async (query, signal) => {
    const { limit, status } = query;
    const statuses = status ? [status] : PetStatus.options;
    const shardNames = (value: PetStatus) => Array.from({ length: shards }, (_, n) => shardName(value, n));
    const found = await Promise.all(
      statuses.flatMap(shardNames).map((shard) => queryShard(shard, query, signal)),
    );
    const sorted = found.flat().sort((a, b) => Number(a.id - b.id));
    const pets = sorted.slice(0, limit);
    const last = sorted.length > limit ? pets.at(-1) : undefined;
    return { pets, next: last?.id };
  };
  // A page without a filter opens a connection for each query.
  return { list, ping: (signal) => list({ limit: 1 }, signal) };
}

/** Finds pets in a DynamoDB table, as last written. */
export function petFinder(table: string): PetFinder {
  const client = documentClient();
  const find: PetFinder["find"] = async (id, abortSignal) => {
    const command = new GetCommand({ TableName: table, Key: { id }, ConsistentRead: true });
    const { Item } = await client.send(command, { abortSignal });
    return Item?.[STATUS_SHARD_ATTRIBUTE] ? toPet(Item) : undefined; // without it, the id is retired
  };
  return { find, ping: (signal) => find(0n, signal) };
}

/**
 * Makes the item of a pet. Every write of a whole pet uses it, so that the index lists the pet under its status.
 *
 * @param creationId of the creation that added the pet: a retry recognizes its pet by it
 * @param shards the number of index partitions for each status
 */
export const petItem = (pet: Pet, creationId: string, shards: number) => ({
  ...pet,
  [STATUS_SHARD_ATTRIBUTE]: statusShardOf(pet, shards),
  creationId,
});

/**
 * Makes the item of a retired id: no pet gets the id, no index lists it, and no operation returns it. It stays for ever.
 *
 * @param ids of the creation that added the pet, if there was one, and of its deletion
 */
export const retiredItem = (id: bigint, ids?: { creationId?: string; deletionId?: string }) => ({
  id,
  ...ids,
});

/**
 * Adds pets to a DynamoDB table (docs/decisions/claim-then-put.md).
 *
 * @param tables names of the tables of pets and of claims (claim-store.ts)
 * @param shards the number of index partitions for each status
 */
export function petCreator(tables: { pets: string; claims: string }, shards: number): PetCreator {
  const client = documentClient();
  const claims = claimStore(client, tables.claims);

  /** Returns the item that has the id already, or undefined. */
  const putIfFree = (Item: Record<string, unknown>, abortSignal: AbortSignal | undefined) => {
    const put = new PutCommand({
      TableName: tables.pets,
      Item,
      ConditionExpression: "attribute_not_exists(id)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
    return existingItem(client.send(put, { abortSignal }));
  };

  const create: PetCreator["create"] = async (newPet, token, signal) => {
    const claim = token && (await claims.claim(token, newPet, signal));
    const creationId = claim?.creationId ?? randomUUID();
    let id = claim?.petId ?? generatePetId();
    for (let attempt = 1; attempt <= MAX_ID_ATTEMPTS; attempt++) {
      const pet = { id, ...newPet };
      // A retry found it in a claim. Nobody adds a pet with a retired id, not even an earlier attempt that is still running.
      const stale = isStalePetId(id);
      const existing = await putIfFree(stale ? retiredItem(id) : petItem(pet, creationId, shards), signal);
      if (!existing && !stale) return pet;
      // An earlier attempt or a repeated write of this creation added its pet, whatever the pet has become.
      if (existing?.creationId?.S === creationId) return pet;
      id = claim ? await claims.replaceId({ ...claim, petId: id }, signal) : generatePetId();
    }
    throw new ApiError("unavailable");
  };
  return { create, ping: claims.ping };
}
