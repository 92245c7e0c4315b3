import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { creationIdOf, creationOrder, fingerprintOf, petIdOf } from "../creation.ts";
import { ApiError } from "../errors.ts";
import { Pet, type PetCreator, type PetFinder, type PetLister, type PetQuery, PetStatus } from "../pet.ts";
import { dynamoClient, existingItem } from "./client.ts";

/** The index that lists the pets of a status in order of their creation. */
export const STATUS_INDEX = "byStatus";

/** The sort key of the index. Its partition key is `status`. A retired id has neither. */
export const ORDER_ATTRIBUTE = "creationOrder";

/** How many ids of a creation are tried. */
export const MAX_ID_ATTEMPTS = 5;

const documentClient = () =>
  DynamoDBDocumentClient.from(dynamoClient(), { unmarshallOptions: { wrapNumbers: BigInt } });

const fieldNames = Object.keys(Pet.shape);

/** Removes the store's own attributes. A pet that was stored before a field existed does not get it. */
const toPet = (item: Record<string, unknown>) =>
  Object.fromEntries(fieldNames.flatMap((name) => (name in item ? [[name, item[name]]] : []))) as Pet;

/**
 * Lists the pets of a DynamoDB table with one Query for each status, so that the cost of a page does not grow with the
 * table.
 */
export function petLister(table: string): PetLister {
  const client = documentClient();

  // DynamoDB splits a response at 1 MB. BODY_LIMIT keeps the largest page below it, so nothing reads LastEvaluatedKey.
  const queryStatus = async (
    status: PetStatus,
    { limit, after = 0n }: PetQuery,
    abortSignal?: AbortSignal,
  ) => {
    const command = new QueryCommand({
      TableName: table,
      IndexName: STATUS_INDEX,
      KeyConditionExpression: `#status = :status AND ${ORDER_ATTRIBUTE} > :after`,
      ExpressionAttributeNames: { "#status": "status" },
      ExpressionAttributeValues: { ":status": status, ":after": after },
      Limit: limit + 1, // one pet more than the page holds shows whether another page follows
    });
    const { Items } = await client.send(command, { abortSignal });
    if (!Items) throw new ApiError("unavailable"); // the response was empty
    return Items.map((item) => ({ pet: toPet(item), order: item[ORDER_ATTRIBUTE] as bigint }));
  };

  const list: PetLister["list"] = async (query, signal) => {
    const { limit, status } = query;
    const statuses = status === undefined ? PetStatus.options : [status];
    const found = await Promise.all(statuses.map((one) => queryStatus(one, query, signal)));
    const sorted = found.flat().sort((a, b) => (a.order < b.order ? -1 : 1));
    const page = sorted.slice(0, limit);
    const last = sorted.length > limit ? page.at(-1) : undefined;
    return { pets: page.map(({ pet }) => pet), next: last?.order };
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
    return Item?.[ORDER_ATTRIBUTE] ? toPet(Item) : undefined; // without it, the id is retired
  };
  return { find, ping: (signal) => find(0n, signal) };
}

/** Adds pets to a DynamoDB table, each with one write (docs/decisions/one-write.md). */
export function petCreator(table: string): PetCreator {
  const client = documentClient();

  const create: PetCreator["create"] = async (newPet, token, abortSignal) => {
    const creationId = creationIdOf(token);
    const creation = { creationId, ...(token && { fingerprint: fingerprintOf(creationId, newPet) }) };
    for (let attempt = 0; attempt < MAX_ID_ATTEMPTS; attempt++) {
      const id = petIdOf(creationId, attempt);
      const pet = { id, ...newPet };
      const put = new PutCommand({
        TableName: table,
        Item: { ...pet, ...creation, [ORDER_ATTRIBUTE]: creationOrder(Date.now(), id) },
        ConditionExpression: "attribute_not_exists(id)",
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      });
      const existing = await existingItem(client.send(put, { abortSignal }));
      if (!existing) return pet;
      if (existing.creationId?.S !== creationId) continue; // another creation has the id
      if (existing.fingerprint?.S !== creation.fingerprint) throw new ApiError("idempotency_mismatch");
      return pet; // an earlier attempt added it, whatever it has become
    }
    throw new ApiError("unavailable");
  };
  // A write, because a read would need a grant to read every pet. Its condition never holds.
  const ping = (abortSignal: AbortSignal) => {
    const ConditionExpression = "attribute_exists(id) AND attribute_not_exists(id)";
    const put = new PutCommand({ TableName: table, Item: { id: 0n }, ConditionExpression });
    return client.send(put, { abortSignal });
  };
  return { create, ping };
}
