import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand, ScanCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, expect, it, jest } from "@jest/globals";
import fc from "fast-check";
import { creationStore, petFinder, petLister } from "../../../lib/dynamo/pet-store.ts";
import { type NewPet, PetStatus } from "../../../lib/pet.ts";
import { type Command, TableModel } from "../../long/interleavings/table-model.ts";
import { createOwnTables } from "../../support/own-tables.ts";

// The model must not share the assumptions of the code that it tests, so every command that the stores send is executed
// by the embedded store as well.
const tables = await createOwnTables();
const { create } = creationStore(tables, 2);
const find = petFinder(tables.pets);
const list = petLister(tables.pets, 2);

const models = { [tables.pets]: new TableModel("id"), [tables.claims]: new TableModel("hash") };
const numbers = fc.sample(fc.infiniteStream(fc.nat()), { seed: 1, numRuns: 1 })[0] as fc.Stream<number>;
const choose = (count: number) => (numbers.next().value as number) % count;
const compared = new Map<string, number>();

afterEach(() => {
  jest.restoreAllMocks();
});

const ids = new Map<bigint, bigint>();
/** Lets some creations generate the same id: 1 to 4. */
function collide(command: unknown): void {
  const { Item, Key, ExpressionAttributeValues: values } = (command as PutCommand & UpdateCommand).input;
  const places = [
    [Item, "id"],
    [Item, "petId"],
    [Key, "id"],
    [values, ":id"],
  ] as const;
  for (const [part, name] of places) {
    const id = part?.[name];
    if (!part || typeof id !== "bigint") continue;
    if (!ids.has(id)) ids.set(id, choose(6) < 4 ? BigInt(1 + choose(4)) : id);
    part[name] = ids.get(id);
  }
}

async function execute(command: Command) {
  const model = models[command.input.TableName ?? ""];
  const output = model?.execute(command);
  model?.updateIndex();
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
    const [modelled] = await Promise.allSettled([execute(command as Command)]);
    const outcome = settled(real);
    expect([command.input, settled(modelled)]).toEqual([command.input, outcome]);
    const name = `${command.constructor.name} ${typeof outcome === "string" ? "refused" : "done"}`;
    compared.set(name, (compared.get(name) ?? 0) + 1);
    if (real.status === "rejected") throw real.reason;
    return real.value as never;
  });

  for (let n = 0; n < 100; n++) {
    now.mockReturnValue(Date.UTC(2026, 5, 1) + n * 3_600_000);
    const status = PetStatus.options[choose(3)] ?? "sold";
    const pet: NewPet = { name: `Rex ${choose(2)}`, categoryId: 1n, status };
    const key = choose(3);
    await create(pet, key > 0 ? { caller: "key_1", key: String(key) } : undefined).catch(() => undefined);
    await find(BigInt(1 + choose(4)));
    const filter = choose(2) ? status : undefined;
    await list({ limit: 1 + choose(3), status: filter, after: BigInt(choose(5)) });
  }
  const changes = ["PutCommand done", "PutCommand refused", "UpdateCommand done", "UpdateCommand refused"];
  for (const name of [...changes, "GetCommand done", "QueryCommand done"])
    expect([name, compared.get(name)]).toEqual([name, expect.any(Number)]);
  expect(Math.min(...compared.values())).toBeGreaterThan(5);
});

it.each(["=", "<>", "<", "<=", ">", ">="])(
  "compares with %s as the embedded store does",
  async (operator) => {
    const client = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
      unmarshallOptions: { wrapNumbers: BigInt },
    });
    const model = new TableModel("hash");
    const outcomes = [];
    for (const number of [undefined, 1n, 2n, 3n, "2"]) {
      const Item = { hash: `${operator} ${number}`, ...(number !== undefined && { number }) };
      const write = new PutCommand({ TableName: tables.claims, Item });
      const compare = new PutCommand({
        TableName: tables.claims,
        Item,
        ConditionExpression: `#number ${operator} :two`,
        ExpressionAttributeNames: { "#number": "number" },
        ExpressionAttributeValues: { ":two": 2n },
      });
      await client.send(write);
      model.execute(write);
      const [real] = await Promise.allSettled([client.send(compare)]);
      const [modelled] = await Promise.allSettled([(async () => model.execute(compare))()]);
      outcomes.push([number, modelled.status, real.status]);
    }
    expect(outcomes.map(([number, modelled]) => [number, modelled])).toEqual(
      outcomes.map(([number, , real]) => [number, real]),
    );
    expect(new Set(outcomes.map(([, modelled]) => modelled)).size).toBe(2);
  },
);

const TableName = "pets";
const Key = { id: 1n };
it.each([
  new PutCommand({ TableName, Item: Key, ReturnValues: "ALL_OLD" }),
  new PutCommand({ TableName, Item: Key, ConditionExpression: "size(id) > :n" }),
  new UpdateCommand({ TableName, Key, UpdateExpression: "REMOVE name" }),
  new ScanCommand({ TableName }),
])("refuses a command that the stores do not send: $constructor.name $input", (command) => {
  expect(() => new TableModel("id").execute(command)).toThrow(/not support|Unrecognized key/);
});
