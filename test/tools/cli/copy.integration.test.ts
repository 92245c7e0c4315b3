import { fileURLToPath } from "node:url";
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { expect, it } from "@jest/globals";
import { createOwnTables } from "../../support/own-tables.ts";
import { runNode } from "../../support/run-node.ts";

const client = new DynamoDB({});
const script = fileURLToPath(new URL("../../../tools/cli/copy.ts", import.meta.url));
const copy = (...args: string[]) => runNode([script, ...args], { env: process.env });

type Item = NonNullable<Parameters<typeof client.putItem>[0]["Item"]>;
const pet = (id: number, name = "Rex"): Item => ({ id: { N: `${id}` }, name: { S: name } });
const key = (keyId: string): Item => ({ keyId: { S: keyId } });
const fill = (TableName: string, items: Item[]) =>
  Promise.all(items.map((Item) => client.putItem({ TableName, Item })));

it("copies what is missing, overwrites nothing, and names the keys that it adds", async () => {
  const [from, to] = [await createOwnTables(), await createOwnTables()];
  const all = Array.from({ length: 60 }, (_, n) => pet(n + 1)); // more than a page
  await fill(from.PETS_TABLE, all);
  await fill(to.PETS_TABLE, [pet(2, "Newer"), pet(61)]);
  const stdout = "59 of 60 items were missing and are copied.\n";
  expect(await copy(from.PETS_TABLE, to.PETS_TABLE)).toEqual({ code: 0, stdout, stderr: "" });
  const { Items = [] } = await client.scan({ TableName: to.PETS_TABLE });
  const sorted = Items.toSorted((a, b) => Number(a.id?.N) - Number(b.id?.N));
  expect(sorted).toEqual([pet(1), pet(2, "Newer"), ...all.slice(2), pet(61)]);
  await fill(from.API_KEYS_TABLE, [key("key_1"), key("key_2")]);
  await fill(to.API_KEYS_TABLE, [key("key_2")]);
  const keys = "key_1: copied.\n1 of 2 items were missing and are copied.\n";
  expect(await copy(from.API_KEYS_TABLE, to.API_KEYS_TABLE)).toEqual({ code: 0, stdout: keys, stderr: "" });
  const mixed = expect.stringMatching(/^copy: .* have items of different kinds\.\n$/);
  expect(await copy(from.PETS_TABLE, to.API_KEYS_TABLE)).toEqual({ code: 1, stdout: "", stderr: mixed });
});
