import { type AttributeValue, ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { petItem } from "../../../lib/dynamo/pet-store.ts";
import type { Pet } from "../../../lib/pet.ts";
import { generatePetId } from "../../../lib/pet-id.ts";
import { type Command, type Input, type Item, nameOf } from "./table-model.ts";

/** A fault put on purpose between the stores and DynamoDB: it changes what is sent or what is answered. */
export type Mutation = (
  command: Command,
  send: (input: Partial<Input>) => Promise<unknown>,
) => Promise<unknown>;

type Attributes = Record<string, AttributeValue>;

/** @param change returns the members of the input that become other ones */
const sent =
  (name: string, change: (input: Input) => Partial<Input>): Mutation =>
  (command, send) =>
    send({ ...command.input, ...(nameOf(command) === name && change(command.input as Input)) });

/** @param from a part of the condition; the other conditions stay */
const condition = (name: string, from: string, to: string, values: (item: Item) => Item = () => ({})) =>
  sent(name, ({ ConditionExpression, Item, ExpressionAttributeValues }) =>
    ConditionExpression.includes(from)
      ? {
          ConditionExpression: ConditionExpression.replace(from, to),
          ExpressionAttributeValues: { ...ExpressionAttributeValues, ...values(Item) },
        }
      : {},
  );

const putItem = (name: string, change: (item: Item) => Item) =>
  sent(name, ({ Item }) => ({ Item: change(Item) }));

/** @param change returns the item that a refusal names in place of its own */
const refused =
  (name: string, change: (item: Attributes, input: Input) => Attributes): Mutation =>
  async (command, send) => {
    try {
      return await send(command.input);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException && nameOf(command) === name)
        error.Item = change(error.Item ?? {}, command.input as Input);
      throw error;
    }
  };

const without = <T extends object>(item: T, name: string) =>
  Object.fromEntries(Object.entries(item).filter(([other]) => other !== name)) as T;

const isRetiring = ({ input }: Command) => Object.keys(input.Item ?? {}).join() === "id";

/** Of creations, and of changes and deletions beside them. */
export const creationMutations: Record<string, Mutation> = {
  "a claim replaces another one": condition("Put claims", "#hash)", "#hash) OR attribute_exists(#hash)"),
  "a claim lasts less than the window": putItem("Put claims", (item) => ({
    ...item,
    expiresAt: Number(item.expiresAt) - 1,
  })),
  "a claim lasts more than the window": condition("Put claims", "<=", "<"),
  "all keys share a claim": putItem("Put claims", (item) => ({ ...item, hash: "-" })),
  "another body gets the first pet": refused("Put claims", (item, { Item }) => ({
    ...item,
    fingerprint: { S: String(Item.fingerprint) },
  })),
  "a concurrent retry's new id is replaced again": condition("Update claims", " AND petId = :taken", ""),
  "the id in the claim of another creation is used": refused("Update claims", (item, input) => ({
    ...item,
    creationId: { S: String(input.ExpressionAttributeValues[":creationId"]) },
  })),
  "an item is written over another one": condition("Put pets", "attribute_not_exists(id)", ""),
  "a retry brings back a deleted pet": condition("Put pets", "not_exists(id)", "not_exists(statusShard)"),
  "a retry undoes a change": condition(
    "Put pets",
    "exists(id)",
    "exists(id) OR creationId = :own",
    (item) => ({
      ":own": item.creationId ?? "-",
    }),
  ),
  "every taken id is that of another creation": refused("Put pets", (item) => ({
    ...item,
    creationId: { S: "another" },
  })),
  "a changed pet is that of another creation": refused("Put pets", (item) =>
    item.status?.S === "available" ? item : without(item, "creationId"),
  ),
  "a deleted pet is a retired id": refused("Put pets", (item) =>
    item.statusShard ? item : without(item, "creationId"),
  ),
  "a refusal without its item gets another id": refused("Put pets", (item) => ({ id: { N: "1" }, ...item })),
  "a pet is stored without its creation": putItem("Put pets", (item) => without(item, "creationId")),
  "each request adds a pet with an id of its own": putItem("Put pets", (item) =>
    item.statusShard ? { ...item, id: generatePetId() } : item,
  ),
  "a late retry writes the pet with the old id": (command, send) => {
    const { Item } = command.input;
    const pet = { id: Item?.id, name: "Rex", categoryId: 1n, status: "available" } as Pet;
    return send(isRetiring(command) ? { ...command.input, Item: petItem(pet, "late", 1) } : command.input);
  },
  "a late retry draws another id without retiring the old one": async (command, send) =>
    isRetiring(command) ? {} : send(command.input),
  "a change brings back a deleted pet": condition("Update pets", "statusShard", "id"),
  "a change leaves the pet in the list of its old status": sent("Update pets", ({ UpdateExpression }) => ({
    UpdateExpression: UpdateExpression.replace(/, statusShard .*/, ""),
  })),
  "a deletion forgets who added the pet": putItem("Put pets", (item) =>
    item.deletionId ? without(item, "creationId") : item,
  ),
  "a deletion replaces another one": condition("Put pets", "attribute_exists(statusShard)", ""),
  "a deletion does not recognize its own write": refused("Put pets", (item) => without(item, "deletionId")),
};

/** Of lists. */
export const walkMutations: Record<string, Mutation> = {
  "a page starts with the last pet of the page before": sent("Query pets", (input) => ({
    KeyConditionExpression: input.KeyConditionExpression.replace(">", ">="),
  })),
  "a page skips an id": sent("Query pets", ({ ExpressionAttributeValues: values }) => ({
    ExpressionAttributeValues: { ...values, ":after": values[":after"] && Number(values[":after"]) + 1 },
  })),
  "a page leaves out a partition": async (command, send) =>
    command.input.ExpressionAttributeValues?.[":shard"] === "sold" ? { Items: [] } : send(command.input),
  "the last pet of a page hides the next page": sent("Query pets", ({ Limit }) => ({ Limit: Limit - 1 })),
};
