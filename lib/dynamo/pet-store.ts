import { randomUUID } from "node:crypto";
import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { GetCommand, QueryCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { ApiError } from "../errors.ts";
import { NewPet, Pet, PetStatus } from "../pet.ts";
import { conditionFailure } from "./client.ts";
import { documentClient } from "./document-client.ts";
import { itemCreator } from "./item-creator.ts";
import { ORDER_ATTRIBUTE, PETS_KEY, STATUS_INDEX } from "./schema.ts";

// On a failure, each method throws ApiError: `unavailable` when a retry can succeed, otherwise `internal_error`, also when the
// signal aborts.

const fieldNames = Object.keys(Pet.shape);

/** Removes the store's own attributes. A pet that was stored before a field existed does not get the field. */
const toPet = (item: Record<string, unknown>) =>
  Object.fromEntries(fieldNames.flatMap((name) => (name in item ? [[name, item[name]]] : []))) as Pet;

/** Which pets a page of the list holds. */
interface PetQuery {
  /** the maximum number of pets to return */
  limit: number;
  /** only pets with this status */
  status?: PetStatus;
  /** only pets that follow this place in the list (creation.ts) */
  after?: bigint;
}

/** A page of pets in order of their creation. */
interface PetPage {
  pets: Pet[];
  /** the place after which the next page starts; undefined on the last page */
  next: bigint | undefined;
}

/**
 * Lists the pets of a DynamoDB table with one Query for each status, so that the cost of a page does not grow with the
 * table.
 */
export function petLister(table: string) {
  const client = documentClient();

  // DynamoDB splits a response at 1 MB. BODY_LIMIT keeps the largest page below it, so nothing reads LastEvaluatedKey.
  const queryStatus = async (status: PetStatus, { limit, after = 0n }: PetQuery, signal?: AbortSignal) => {
    const command = new QueryCommand({
      TableName: table,
      IndexName: STATUS_INDEX,
      KeyConditionExpression: `#status = :status AND ${ORDER_ATTRIBUTE} > :after`,
      ExpressionAttributeNames: { "#status": "status" },
      ExpressionAttributeValues: { ":status": status, ":after": after },
      Limit: limit + 1, // one pet more than the page holds shows whether another page follows
    });
    const { Items } = await client.send(command, { abortSignal: signal });
    if (!Items) throw new ApiError("unavailable", { cause: new Error("DynamoDB returned no Items.") });
    return Items.map((item) => ({ pet: toPet(item), order: item[ORDER_ATTRIBUTE] as bigint }));
  };

  return {
    /** Lists a page of pets. A new pet can take a moment to appear. */
    async list(query: PetQuery, signal?: AbortSignal): Promise<PetPage> {
      const { limit, status } = query;
      const statuses = status === undefined ? PetStatus.options : [status];
      const found = await Promise.all(statuses.map((one) => queryStatus(one, query, signal)));
      const sorted = found.flat().sort((a, b) => (a.order < b.order ? -1 : 1));
      const page = sorted.slice(0, limit);
      const last = sorted.length > limit ? page.at(-1) : undefined;
      return { pets: page.map(({ pet }) => pet), next: last?.order };
    },
  };
}

/** Finds pets in a DynamoDB table. */
export function petFinder(table: string, config?: DynamoDBClientConfig) {
  const client = documentClient(config);
  return {
    /** Returns the pet with this id as last written, or undefined. */
    async find(id: bigint, signal?: AbortSignal): Promise<Pet | undefined> {
      const command = new GetCommand({ TableName: table, Key: { id }, ConsistentRead: true });
      const { Item } = await client.send(command, { abortSignal: signal });
      return Item?.[ORDER_ATTRIBUTE] ? toPet(Item) : undefined; // without it, the id is retired
    },
  };
}

/** Adds pets to a DynamoDB table. */
export const petCreator = (table: string) => itemCreator<NewPet>(table, PETS_KEY);

/** Deletes pets from a DynamoDB table by the rules of docs/decisions/one-write.md. No operation does it: operators do. */
export function petRemover(table: string, config?: DynamoDBClientConfig) {
  const client = documentClient(config);
  const names = Object.fromEntries(Object.keys(NewPet.shape).map((name) => [`#${name}`, name]));
  return {
    /** Deletes a pet. Its id stays with its creation, so that no retry adds it again. Returns false if there is no such pet. */
    async remove(id: bigint): Promise<boolean> {
      const deletionId = randomUUID();
      const update = new UpdateCommand({
        TableName: table,
        Key: { id },
        UpdateExpression: `SET deletionId = :deletionId REMOVE ${[ORDER_ATTRIBUTE, ...Object.keys(names)].join(", ")}`,
        ConditionExpression: `attribute_exists(${ORDER_ATTRIBUTE})`, // a retired id does not have it
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: { ":deletionId": deletionId },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      });
      const failure = await conditionFailure(client.send(update));
      return !failure || failure.Item?.deletionId?.S === deletionId; // the SDK repeats an update whose response was lost
    },
  };
}
