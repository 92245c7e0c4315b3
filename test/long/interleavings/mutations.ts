import { type AttributeValue, ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { petItem } from "../../../lib/dynamo/pet-store.ts";
import type { Pet } from "../../../lib/pet.ts";
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
const condition = (name: string, from: string, to: string) =>
  sent(name, ({ ConditionExpression }) => ({ ConditionExpression: ConditionExpression.replace(from, to) }));

const putItem = (name: string, change: (item: Item) => Item) =>
  sent(name, ({ Item }) => ({ Item: change(Item) }));

/** @param change returns the item that a refusal names in place of its own */
const refused =
  (name: string, change: (item: Attributes, input: Input) => Attributes): Mutation =>
  async (command, send) => {
    try {
      return await send(command.input);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException && error.Item && nameOf(command) === name)
        error.Item = change(error.Item, command.input as Input);
      throw error;
    }
  };

const isRetiring = ({ input }: Command) => Object.keys(input.Item ?? {}).join() === "id";

/** Each must break a rule in some schedule. test/lib/dynamo/ notices others in a single request or retry. */
export const mutations: Record<string, Mutation> = {
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
  "every taken id is that of another creation": refused("Put pets", (item) => ({
    ...item,
    creationId: { S: "another" },
  })),
  "a late retry writes the pet with the old id": (command, send) => {
    const pet = { id: command.input.Item?.id, name: "Rex", categoryId: 1n, status: "available" } as Pet;
    return send(isRetiring(command) ? { ...command.input, Item: petItem(pet, "late", 1) } : command.input);
  },
  "a late retry draws another id without retiring the old one": async (command, send) =>
    isRetiring(command) ? {} : send(command.input),
  "a change brings back a deleted pet": condition("Update pets", "statusShard", "id"),
  "a deletion replaces another one": condition("Put pets", "attribute_exists(statusShard)", ""),
};
