import { DynamoDBDocumentClient, type PutCommand, type UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, expect, it, jest } from "@jest/globals";
import { petCreator, petFinder, petLister } from "../../../lib/dynamo/pet-store.ts";
import { type NewPet, PetStatus } from "../../../lib/pet.ts";
import { type Command, randomChoices, TableModel } from "../../long/interleavings/table-model.ts";
import { createOwnTables } from "../../support/own-tables.ts";
import { trialOperations } from "../../support/trial-operations.ts";

// The model must not share the assumptions of the code that it tests, so every command that the stores send is executed
// by the embedded store as well.
const tables = await createOwnTables();
const { create } = petCreator(tables, 2);
const { find } = petFinder(tables.pets);
const { list } = petLister(tables.pets, 2);
const { changeStatus, deletePet } = trialOperations(tables.pets, 2);

const models = { [tables.pets]: new TableModel("id"), [tables.claims]: new TableModel("hash") };
const choose = randomChoices(1);

afterEach(() => {
  jest.restoreAllMocks();
});

async function execute(command: Command) {
  const model = models[command.input.TableName ?? ""];
  const output = model?.execute(command);
  model?.updateIndex();
  return output;
}

const ids = new Map<bigint, bigint>();
/** Lets some creations generate the same id: 1 to 4. */
function collide({ Item, Key, ExpressionAttributeValues }: (PutCommand & UpdateCommand)["input"]): void {
  for (const part of [Item, Key, ExpressionAttributeValues]) {
    for (const [name, id] of Object.entries(part ?? {})) {
      if (!part || !/^:?id$|^petId$/.test(name)) continue;
      if (!ids.has(id)) ids.set(id, choose(6) < 4 ? BigInt(1 + choose(4)) : id);
      part[name] = ids.get(id);
    }
  }
}

/** Returns the part of a result that the stores read, or the item in the way. */
const outcomeOf = (result: Promise<unknown>) =>
  result.then(
    (output) => {
      const { Item, Items } = output as { Item?: unknown; Items?: unknown };
      return { Item, Items };
    },
    ({ name, message, Item }: Error & { Item?: unknown }) =>
      name === "Error" ? message : `${name} ${JSON.stringify(Item)}`, // the model says what it does not know
  );

it("does what the embedded store does, for every command of random creations, reads and lists", async () => {
  const compared = new Map<string, number>();
  const prototype = DynamoDBDocumentClient.prototype;
  const send = prototype.send as (command: unknown) => Promise<unknown>;
  jest.spyOn(prototype, "send").mockImplementation(async function (this: DynamoDBDocumentClient, command) {
    collide(command.input as never);
    const result = send.call(this, command);
    const outcome = await outcomeOf(result);
    const modelled = await outcomeOf(execute(command as Command));
    expect([command.input, modelled]).toEqual([command.input, outcome]);
    const name = `${command.constructor.name} ${typeof outcome === "string" ? "refused" : "done"}`;
    compared.set(name, (compared.get(name) ?? 0) + 1);
    return result as never;
  });

  const now = jest.spyOn(Date, "now");
  for (let n = 0; n < 30; n++) {
    now.mockReturnValue(Date.UTC(2026, 5, 1) + n * 8 * 3_600_000);
    const status = PetStatus.options[choose(3)] ?? "sold";
    const pet: NewPet = { name: `Rex ${choose(2)}`, categoryId: 1n, status };
    const key = choose(3);
    await create(pet, key > 0 ? { keyId: "key_1", key: String(key) } : undefined).catch(() => undefined);
    await changeStatus(BigInt(1 + choose(4)), status);
    if (n % 4 > 0) continue;
    await deletePet(BigInt(1 + choose(4)));
    await find(BigInt(1 + choose(4)));
    const filter = choose(2) ? status : undefined;
    await list({ limit: 1 + choose(3), status: filter, after: BigInt(choose(5)) });
  }
  const changes = ["PutCommand done", "PutCommand refused", "UpdateCommand done", "UpdateCommand refused"];
  const kinds = [...changes, "GetCommand done", "QueryCommand done"];
  expect(kinds.filter((kind) => (compared.get(kind) ?? 0) < 5)).toEqual([]);
});
