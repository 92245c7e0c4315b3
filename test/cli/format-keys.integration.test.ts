import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "@jest/globals";
import { keyIdOf } from "../../lib/api-key.ts";
import { openDeployment, START } from "../support/deployed-keys.ts";
import { failure } from "../support/run-here.ts";

it("lists the oldest key first and keys of the same age by ID, or none", async () => {
  await using aws = await openDeployment();
  expect(await aws.print("list")).toBe("There are no keys in staging.\n");
  expect(await aws.json("list")).toEqual([]);
  for (const now of [START + 1, START, START, START, START - 1]) {
    aws.setTime(now);
    await aws.json("issue", "--owner", "Acme");
  }
  const listed: { createdAt: string; keyId: string }[] = await aws.json("list");
  const order = listed.map(({ createdAt, keyId }) => `${createdAt} ${keyId}`);
  expect(order).toEqual(order.toSorted());
});

it("prints an owner as it was typed, with the invisible characters of Persian and of emoji", async () => {
  await using aws = await openDeployment();
  const owner = "فروشگاه می\u200cخواهم 👩\u200d💻 🏴\u{e0067}\u{e0062}\u{e007f}";
  const { keyId } = await aws.json("issue", "--owner", owner);
  for (const args of [["list"], ["show", keyId]]) expect(await aws.print(...args)).toContain(owner);
});

describe("a table that others have changed", () => {
  const putInto =
    (TableName: string) =>
    async (hash: string, owner: string, scope = "pets:read", keyId = keyIdOf(hash)) => {
      const stored = { keyId: { S: keyId }, hash: { S: hash }, owner: { S: owner } };
      const Item = { ...stored, scopes: { SS: [scope] }, createdAt: { N: "1" } };
      await new DynamoDBClient({}).send(new PutItemCommand({ TableName, Item }));
    };

  it("does not reach the terminal as control characters", async () => {
    // Set the title, colours in 7 and 8 bits, the direction of text, a row of its own, and no character at all.
    const hostile = "\u001b]0;x\u0007\u001b[31m\u009b31m\u202e\u2066\nkey_\u2028key_\u2029\u007f\udc00";
    await using aws = await openDeployment();
    const put = putInto(aws.tables.apiKeysTable);
    await put("a".repeat(64), hostile);
    await put("c".repeat(64), "x", hostile);
    await put(hostile, "x");
    await put("d".repeat(64), "x", "pets:read", hostile);
    const id = `key_${"a".repeat(16)}`;
    for (const args of [["list"], ["list", "--json"], ["show", id], ["show", id, "--json"], ["rotate", id]]) {
      const { code, stdout, stderr } = await aws.keys(...args);
      expect({ args, code }).toEqual({ args, code: 0 });
      expect(stdout + stderr).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
    }
    expect((await aws.json("show", id)).owner).toBe(hostile);
  });

  it("shows that a record is damaged, and revokes the key", async () => {
    const id = `key_${"b".repeat(16)}`;
    await using aws = await openDeployment();
    await putInto(aws.tables.apiKeysTable)("e".repeat(64), "Acme", "pets:read", id);
    expect(await aws.print("list")).toMatch(new RegExp(`^${id}  damaged`, "m"));
    expect(await aws.json("list")).toContainEqual({ keyId: id, state: "damaged" });
    for (const command of ["show", "rotate"])
      expect(await aws.keys(command, id)).toEqual(
        failure(`The record of ${id} is damaged: the key does not work. Revoke it.`),
      );
    expect(await aws.print("revoke", id)).toMatch(new RegExp(`^Revoked ${id}\\.`));
  });
});
