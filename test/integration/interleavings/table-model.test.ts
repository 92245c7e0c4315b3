import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, it, jest } from "@jest/globals";
import { PetStatus } from "../../../lib/pet.ts";
import * as petIds from "../../../lib/pet-id.ts";
import { type Command, TableModel } from "../../long/interleavings/table-model.ts";
import { createOwnTables } from "../../support/own-tables.ts";

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

// The model must not share the assumptions of the code that it tests.
it("does what the embedded store does, for every command of creations, changes and deletions", async () => {
  const compared: string[] = [];
  const { prototype } = DynamoDBDocumentClient;
  const send = prototype.send as (command: unknown) => Promise<object>;
  jest.spyOn(prototype, "send").mockImplementation(async function (this: DynamoDBDocumentClient, sent) {
    const command = sent as unknown as Command;
    const result = send.call(this, sent);
    const modelled = (async () => models[command.input.TableName ?? ""]?.execute(command))();
    // What the stores read: an item, or the item in the way.
    const outcomes = [result, modelled].map((own) =>
      own.then(
        (output) => ["done", output && "Item" in output ? output.Item : undefined],
        ({ name, Item }) => [name, Item],
      ),
    );
    const [stored, other] = await Promise.all(outcomes);
    expect([command.input, other]).toEqual([command.input, stored]);
    compared.push(`${command.constructor.name} ${stored?.[0]}`);
    return result as never;
  });

  const now = jest.spyOn(Date, "now");
  for (let round = 0; round < 24; round++) {
    now.mockReturnValue(Date.UTC(2026, 5, 1) + round * 8 * 3_600_000);
    const status = PetStatus.options[round % 3] ?? "sold";
    const token = round % 5 > 0 ? { keyId: "key_1", key: String(round % 2) } : undefined;
    await create({ name: `Rex ${round % 7 > 4}`, categoryId: 1n, status }, token).catch(() => undefined);
    await changeStatus(BigInt(1 + (round % 6)), status);
    if (round % 4 === 0) await deletePet(BigInt(1 + (round % 3)));
  }
  for (const command of ["PutCommand", "UpdateCommand"])
    for (const outcome of ["done", "ConditionalCheckFailedException"])
      expect(compared.filter((name) => name === `${command} ${outcome}`).length).toBeGreaterThan(4);
  expect(compared).toContain("GetCommand done");
});
