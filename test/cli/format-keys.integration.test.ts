import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, describe, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { keyIdOf } from "../../lib/api-key.ts";
import { failure, json, keys, output, print, stackWith, start, world } from "../support/deployed-keys.ts";
import { createOwnTables } from "../support/own-tables.ts";

const [other, empty] = [await createOwnTables(), await createOwnTables()];

it("list prints the oldest key first, keys of the same age by ID, and says that there are none", async () => {
  for (world.now of [start + 1, start, start, start, start - 1]) await json("issue", "--owner", "Ordered");
  const listed: { createdAt: string; keyId: string }[] = await json("list");
  const order = listed.map(({ createdAt, keyId }) => `${createdAt} ${keyId}`);
  expect(order).toEqual(order.toSorted());
  world.stacks[stackName("staging")] = stackWith(output("ApiKeysTableName", empty.apiKeysTable));
  expect([await print("list"), await json("list")]).toEqual(["There are no keys in staging.\n", []]);
});

it("list and show print an owner as it was typed, with the invisible characters of Persian and of emoji", async () => {
  const owner = "فروشگاه می\u200cخواهم 👩\u200d💻 🏴\u{e0067}\u{e0062}\u{e007f}";
  const { keyId } = await json("issue", "--owner", owner);
  for (const args of [["list"], ["show", keyId]]) expect(await print(...args)).toContain(owner);
});

describe("a table that others have changed", () => {
  const client = new DynamoDBClient({});
  afterAll(() => client.destroy());

  /** Stores a record in an empty table, which the stack then has. */
  async function put(hash: string, owner: string, scope = "pets:read", keyId = keyIdOf(hash)) {
    const stored = { keyId: { S: keyId }, hash: { S: hash }, owner: { S: owner } };
    const Item = { ...stored, scopes: { SS: [scope] }, createdAt: { N: "1" } };
    await client.send(new PutItemCommand({ TableName: other.apiKeysTable, Item }));
    world.stacks[stackName("staging")] = stackWith(output("ApiKeysTableName", other.apiKeysTable));
  }

  it("does not reach the terminal as control characters", async () => {
    // Set the title, colours in 7 and 8 bits, the direction of text, a row of its own, and no character at all.
    const hostile = "\u001b]0;x\u0007\u001b[31m\u009b31m\u202e\u2066\nkey_\u2028key_\u2029\u007f\udc00";
    await put("a".repeat(64), hostile);
    await put("c".repeat(64), "x", hostile);
    await put(hostile, "x");
    await put("d".repeat(64), "x", "pets:read", hostile);
    const id = `key_${"a".repeat(16)}`;
    for (const args of [["list"], ["list", "--json"], ["show", id], ["show", id, "--json"], ["rotate", id]]) {
      const { code, stdout, stderr } = await keys(...args);
      expect([args, code]).toEqual([args, 0]);
      expect(stdout + stderr).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
    }
    expect((await json("show", id)).owner).toBe(hostile);
  });

  it("shows that a record is damaged, and revokes the key", async () => {
    const id = `key_${"b".repeat(16)}`;
    await put("e".repeat(64), "Acme", "pets:read", id);
    expect(await print("list")).toMatch(new RegExp(`^${id}  damaged`, "m"));
    expect(await json("list")).toContainEqual({ keyId: id, state: "damaged" });
    for (const command of ["show", "rotate"])
      expect(await keys(command, id)).toEqual(
        failure(`The record of ${id} is damaged: the key does not work. Revoke it.`),
      );
    expect(await print("revoke", id)).toMatch(new RegExp(`^Revoked ${id}\\.`));
  });
});
