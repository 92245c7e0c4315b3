import { randomUUID } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { petCreator, petFinder, petLister } from "../../../lib/dynamo/pet-store.ts";
import { context, requestEvent } from "../../support/event.ts";
import { ownTables } from "../../support/own-tables.ts";
import { countNamed } from "../../support/pets.ts";

// Every count lists the whole table, so it has only the pets of this file.
const { pets, claims } = await ownTables();
const { handler: createPet } = await import("../../../functions/create-pet.ts");

jest.spyOn(console, "error").mockImplementation(() => undefined);

// biome-ignore lint/suspicious/noExplicitAny: commands of every kind pass here
const send = jest.spyOn(DynamoDBDocumentClient.prototype, "send") as any;
const realSend = send.getMockImplementation() ?? DynamoDBDocumentClient.prototype.send;
afterEach(() => {
  jest.useRealTimers();
  send.mockReset();
  send.mockImplementation(realSend);
});

const isPut = (table: string) => (command: unknown) =>
  command instanceof PutCommand && command.input.TableName === table;

interface Options {
  key?: string;
  name?: string;
  caller?: string;
}

function create({ key, name = "Once", caller = "key_test" }: Options) {
  const headers = {
    "Content-Type": "application/json",
    ...(key !== undefined && { "idempotency-key": key }),
  };
  const body = JSON.stringify({ name, categoryId: 1 });
  return createPet(
    requestEvent({ headers, body, authorizer: { keyId: caller, scopes: "pets:write" } }),
    context,
  );
}

const count = (name: string) => countNamed(petLister(pets, 1), name);

const calls = () => send.mock.calls.map(([command]: [object]) => command.constructor.name);

describe("createPet with an Idempotency-Key", () => {
  it("returns the same 201 to the same request, byte for byte, quoted or bare", async () => {
    const key = randomUUID();
    const name = `Again ${key}`;
    const first = await create({ key, name });
    expect(first.statusCode).toBe(201);
    for (const again of [key, `"${key}"`, key]) expect(await create({ key: again, name })).toEqual(first);
    expect(await count(name)).toBe(1);
  });

  it("adds one pet for 50 requests at once", async () => {
    const key = randomUUID();
    const name = `Fifty ${key}`;
    const responses = await Promise.all(Array.from({ length: 50 }, () => create({ key, name })));
    expect(new Set(responses.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1);
    expect(responses[0]?.statusCode).toBe(201);
    expect(await count(name)).toBe(1);
  });

  it("refuses the key with another name, category or status, and keeps the first pet", async () => {
    const token = { caller: "key_test", key: randomUUID() };
    const pet = { name: "First", categoryId: 1n, status: "sold" as const };
    const { create } = petCreator({ pets, claims }, 1);
    const first = await create(pet, token);
    for (const change of [{ name: "Other" }, { categoryId: 2n }, { status: "pending" as const }]) {
      await expect(create({ ...pet, ...change }, token)).rejects.toMatchObject({
        code: "idempotency_mismatch",
      });
    }
    expect(await create(pet, token)).toEqual(first);
  });

  it("returns 422 for another body", async () => {
    const key = randomUUID();
    await create({ key, name: "First" });
    const other = await create({ key, name: "Other" });
    expect(other.statusCode).toBe(422);
    expect(JSON.parse(other.body)).toMatchObject({ code: "idempotency_mismatch", status: 422 });
  });

  it("ignores member order, spaces, unknown members and whether the default is written", async () => {
    const key = randomUUID();
    const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
    const responses = [];
    for (const body of [
      '{"name":"A","categoryId":1}',
      '{"categoryId":1.0, "status":"available","name":"A","x":1}',
    ]) {
      responses.push(await createPet(requestEvent({ headers, body }), context));
    }
    expect(responses[1]).toEqual(responses[0]);
  });

  it("treats the same key of different callers as different keys", async () => {
    const key = randomUUID();
    const [one, two] = [
      await create({ key, caller: "key_1" }),
      await create({ key, caller: "key_2", name: "Else" }),
    ];
    expect([one.statusCode, two.statusCode]).toEqual([201, 201]);
    expect(JSON.parse(one.body).id).not.toBe(JSON.parse(two.body).id);
  });

  it("does not confuse the end of a caller with the start of a key", async () => {
    const key = randomUUID();
    const one = await create({ caller: "key_1", key: `2${key}` });
    const two = await create({ caller: "key_12", key });
    expect(JSON.parse(one.body).id).not.toBe(JSON.parse(two.body).id);
  });

  it("has DynamoDB delete a claim after 24 hours, in seconds", async () => {
    const now = jest.spyOn(Date, "now").mockReturnValue(1_800_000_000_001);
    await create({ key: randomUUID() });
    now.mockRestore();
    const [command] = send.mock.calls[0] as [PutCommand];
    expect(command.input.Item?.expiresAt).toBe(1_800_000_001 + 86_400);
  });

  it("forgets a key after 24 hours", async () => {
    const key = randomUUID();
    const first = await create({ key });
    const now = jest.spyOn(Date, "now").mockReturnValue(Date.now() + 24 * 3_600_000 - 2000);
    expect(await create({ key })).toEqual(first);
    now.mockReturnValue(Date.now() + 4000);
    const later = await create({ key, name: "Another day" });
    now.mockRestore();
    expect(later.statusCode).toBe(201);
    expect(JSON.parse(later.body).id).not.toBe(JSON.parse(first.body).id);
  });

  it.each(["", '"', "é", "x".repeat(256)])("refuses the key %j", async (key) => {
    const response = await create({ key });
    expect(response.statusCode).toBe(400);
    expect(JSON.parse(response.body).message).toBe(
      "Idempotency-Key must be 1 to 255 printable ASCII characters.",
    );
  });
});

describe("a crash", () => {
  const crash = (which: (command: unknown) => boolean, when: "before" | "after") => {
    let crashed = false;
    send.mockImplementation(async function (this: DynamoDBDocumentClient, command: never) {
      const hit = which(command) && !crashed;
      if (hit) crashed = true;
      if (hit && when === "before") throw new Error("crash");
      const result = await realSend.call(this, command);
      if (hit) throw new Error("crash");
      return result;
    });
  };

  it.each([
    ["before the claim", claims, "before"],
    ["after the claim", claims, "after"],
    ["between the claim and the pet", pets, "before"],
    ["after the pet", pets, "after"],
  ] as const)("%s neither loses nor doubles the pet", async (_when, table, when) => {
    const key = randomUUID();
    const name = `Crash ${key}`;
    crash(isPut(table), when);
    expect((await create({ key, name })).statusCode).toBe(500);
    const retried = await create({ key, name });
    expect(retried.statusCode).toBe(201);
    expect(await create({ key, name })).toEqual(retried);
    expect(await count(name)).toBe(1);
  });
});

describe("a claimed id that another pet has", () => {
  it("is replaced, the same for every retry", async () => {
    const { create } = petCreator({ pets, claims }, 1);
    const find = petFinder(pets);
    const taken = await create({ name: "Taken", categoryId: 1n, status: "sold" });
    const token = { caller: "key_test", key: randomUUID() };
    const newPet = { name: `Replaced id ${token.key}`, categoryId: 1n, status: "sold" as const };
    // The first request claims the taken id and crashes; the retries find it in the table.
    send.mockImplementationOnce(async function (this: DynamoDBDocumentClient, command: PutCommand) {
      if (command.input.Item) command.input.Item.petId = taken.id;
      await realSend.call(this, command);
      throw new Error("crash");
    });
    await expect(create(newPet, token)).rejects.toThrow("crash");

    const responses = await Promise.all(Array.from({ length: 10 }, () => create(newPet, token)));
    expect(new Set(responses.map(({ id }) => id)).size).toBe(1);
    expect(responses[0]?.id).not.toBe(taken.id);
    expect(await find(taken.id)).toEqual(taken);
    expect(await count(newPet.name)).toBe(1);
  });
});

describe("a creation gives up with a 503", () => {
  const { create } = petCreator({ pets, claims }, 1);
  const rex = { name: "Rex", categoryId: 1n, status: "sold" as const };
  const token = { caller: "key_test", key: "1" };
  const unavailable = { code: "unavailable" };
  const refuse = () => Promise.reject(new ConditionalCheckFailedException({ message: "", $metadata: {} }));

  it("after five ids that other pets have", async () => {
    send.mockImplementation(refuse);
    await expect(create(rex)).rejects.toMatchObject(unavailable);
    expect(calls()).toEqual(Array(5).fill("PutCommand"));
  });

  it("after five claims that others had and that were deleted before they could be read", async () => {
    send.mockImplementation((command: unknown) => (isPut(claims)(command) ? refuse() : {}));
    await expect(create(rex, token)).rejects.toMatchObject(unavailable);
    expect(calls()).toEqual(Array(5).fill(["PutCommand", "GetCommand"]).flat());
  });

  it.each([
    ["deleted", {}],
    ["replaced by another creation", { Item: { creation: "another", petId: 2n } }],
  ])("when its id is taken and its claim was %s in the meantime", async (_what, found) => {
    send.mockImplementation((command: object) => {
      if (isPut(claims)(command)) return {};
      return command.constructor.name === "GetCommand" ? found : refuse();
    });
    await expect(create(rex, token)).rejects.toMatchObject(unavailable);
    expect(calls()).toEqual(["PutCommand", "PutCommand", "UpdateCommand", "GetCommand"]);
  });
});

describe("the calls", () => {
  it("of a creation are one write without a key, and two with a key", async () => {
    await create({});
    expect(calls()).toEqual(["PutCommand"]);
    send.mockClear();
    await create({ key: randomUUID() });
    expect(calls()).toEqual(["PutCommand", "PutCommand"]);
  });
});
