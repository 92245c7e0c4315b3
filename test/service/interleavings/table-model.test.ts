import { DynamoDBDocumentClient, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { expect, it, jest } from "@jest/globals";
import { petCreator, petFinder, petLister } from "../../../lib/dynamo/pet-store.ts";
import { PetStatus } from "../../../lib/pet.ts";
import { seeded } from "../../long/interleavings/choices.ts";
import { TableModel } from "../../long/interleavings/table-model.ts";
import { ownTables } from "../../support/own-tables.ts";

// The model must not share the assumptions of the code that it tests, so every command that the stores send is executed
// by the embedded store as well.
const tables = await ownTables();
const { create } = petCreator(tables, 2);
const find = petFinder(tables.pets);
const list = petLister(tables.pets, 2);

const models = { [tables.pets]: new TableModel("id"), [tables.claims]: new TableModel("hash") };
const choices = seeded(1);
const taken = [1n, 2n, 3n, 4n];
const compared = new Map<string, number>();

/** Replaces some ids with ids that are probably taken. */
function collide(command: unknown): void {
  const id = taken[choices.pick(6)];
  if (id === undefined) return;
  if (command instanceof PutCommand) {
    const { Item = {} } = command.input;
    Item["petId" in Item ? "petId" : "id"] = id;
  } else if (command instanceof UpdateCommand && command.input.ExpressionAttributeValues) {
    command.input.ExpressionAttributeValues[":id"] = id;
  }
}

function execute(command: { input: { TableName: string } }) {
  const model = models[command.input.TableName];
  const output = model?.execute(command);
  for (const update of model?.indexUpdates.splice(0) ?? []) update();
  return output;
}

/** The parts of a result that the stores read. */
const settled = (result: PromiseSettledResult<unknown>) => {
  if (result.status === "rejected") return (result.reason as Error).name;
  const { Item, Items } = result.value as { Item?: unknown; Items?: unknown };
  return { Item, Items };
};

it("does what the embedded store does, for every command of random creations, reads and lists", async () => {
  const prototype = DynamoDBDocumentClient.prototype;
  const send = prototype.send as (command: unknown) => Promise<unknown>;
  const now = jest.spyOn(Date, "now");
  jest.spyOn(prototype, "send").mockImplementation(async function (this: DynamoDBDocumentClient, command) {
    collide(command);
    const [real] = await Promise.allSettled([send.call(this, command)]);
    const [modelled] = await Promise.allSettled([(async () => execute(command as never))()]);
    const outcome = settled(real);
    expect([command.input, settled(modelled)]).toEqual([command.input, outcome]);
    const name = `${command.constructor.name} ${typeof outcome === "string" ? "refused" : "done"}`;
    compared.set(name, (compared.get(name) ?? 0) + 1);
    if (real.status === "rejected") throw real.reason;
    return real.value as never;
  });

  for (let n = 0; n < 200; n++) {
    now.mockReturnValue(Date.UTC(2026, 5, 1) + n * 3_600_000);
    const pet = {
      name: `Rex ${choices.pick(2)}`,
      categoryId: 1n,
      status: PetStatus.options[choices.pick(3)] ?? "sold",
    };
    const key = choices.pick(3);
    await create(pet, key > 0 ? { caller: "key_1", key: String(key) } : undefined).catch(() => undefined);
    await find(taken[choices.pick(4)] ?? 0n);
    const status = choices.pick(2) ? pet.status : undefined;
    await list({ limit: 1 + choices.pick(3), status, after: BigInt(choices.pick(5)) });
  }
  for (const name of ["PutCommand", "UpdateCommand"]) {
    for (const outcome of ["done", "refused"]) expect(compared.get(`${name} ${outcome}`)).toBeGreaterThan(5);
  }
  for (const name of ["GetCommand", "QueryCommand"]) expect(compared.get(`${name} done`)).toBeGreaterThan(5);
});

it("refuses a command that the stores do not send", () => {
  const model = new TableModel("id");
  const key = { TableName: "pets", Key: { id: 1n } };
  const put = { TableName: "pets", Item: { id: 1n } };
  expect(() => model.execute(new PutCommand({ ...put, ReturnValues: "ALL_OLD" }))).toThrow("not support");
  expect(() => model.execute(new PutCommand({ ...put, ConditionExpression: "size(id) > :n" }))).toThrow(
    "not support",
  );
  expect(() => model.execute(new UpdateCommand({ ...key, UpdateExpression: "REMOVE name" }))).toThrow(
    "not support",
  );
  expect(() =>
    model.execute(
      new (class ScanCommand {
        input = {};
      })(),
    ),
  ).toThrow("not support");
});
