import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, it, jest } from "@jest/globals";
import { PetStatus } from "../../../lib/pet.ts";
import * as petIds from "../../../lib/pet-id.ts";
import { createOwnTables } from "../../support/own-tables.ts";
import { type Command, type Item, TableModel } from "./table-model.ts";

// Creations that generate the same ids, 1 to 4, some of which are stale.
let n = 0;
const generatePetId = () => BigInt(1 + (n++ % 4));
const isStalePetId = () => n % 5 === 0;
jest.unstable_mockModule("../../../lib/pet-id.ts", () => ({ ...petIds, generatePetId, isStalePetId }));
const { petCreator } = await import("../../../lib/dynamo/pet-store.ts");
const { trialOperations } = await import("../../support/trial-operations.ts");

const tables = await createOwnTables();
const { create } = petCreator(tables, 2);
const { changeStatus, deletePet } = trialOperations(tables.pets, 2);
const models = { [tables.pets]: new TableModel("id"), [tables.claims]: new TableModel("hash") };

/** Returns what the stores read: an item, or the failure of a condition with the existing item. */
const outcomeOf = (result: Promise<object | undefined>) =>
  result.then(
    (output: { Item?: Item; Attributes?: Item } = {}) => output.Item ?? output.Attributes,
    ({ name, message, Item }) => (name === "Error" ? message : `${name} ${JSON.stringify(Item)}`),
  );

// The model must not share the assumptions of the code that it tests.
it("does what the embedded store does, for every command of creations, changes and deletions", async () => {
  const outcomes: unknown[][] = [];
  const expected: unknown[][] = [];
  const { prototype } = DynamoDBDocumentClient;
  const send = prototype.send as (command: unknown) => Promise<object>;
  jest.spyOn(prototype, "send").mockImplementation(async function (this: DynamoDBDocumentClient, sent) {
    const command = sent as unknown as Command;
    const result = send.call(this, sent);
    const modelled = (async () => models[command.input.TableName ?? ""]?.execute(command))();
    const [stored, model] = await Promise.all([result, modelled].map(outcomeOf));
    expected.push([command.constructor.name, command.input, stored]);
    outcomes.push([command.constructor.name, command.input, model]);
    return result as never;
  });

  const now = jest.spyOn(Date, "now");
  for (let round = 0; round < 24; round++) {
    now.mockReturnValue(Date.UTC(2026, 5, 1) + round * 6 * 3_600_000);
    const status = PetStatus.options[round % 3] ?? "sold";
    const token = round % 5 > 0 ? { keyId: "key_1", idempotencyKey: String(round % 2) } : undefined;
    await create({ name: `Rex ${round % 7 > 4}`, categoryId: 1n, status }, token).catch(() => undefined);
    await changeStatus(BigInt(1 + (round % 6)), status);
    if (round % 4 === 0) await deletePet(BigInt(1 + (round % 3)));
  }
  expect(outcomes).toEqual(expected);
  const kinds = expected.map(
    ([name, , outcome]) => `${name} ${typeof outcome === "string" ? "refused" : "done"}`,
  );
  const both = ["PutCommand done", "PutCommand refused", "UpdateCommand done", "UpdateCommand refused"];
  expect([...new Set(kinds)].sort()).toEqual(["GetCommand done", ...both]);
});
