import { createServer } from "node:http";
import { DeleteItemCommand, DynamoDBClient, PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import { AWS_CLIENT_OPTIONS } from "../../cli/aws-client-options.ts";
import { copyProgram } from "../../cli/copy.ts";
import { generateApiKey, hashApiKey, newApiKeyRecord } from "../../lib/api-key.ts";
import { apiKeyStore } from "../../lib/dynamo/api-key-store.ts";
import { listen } from "../support/listen.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { runHere } from "../support/run-here.ts";

const environment = process.env as Record<string, string>;
const client = new DynamoDBClient({});
type Item = NonNullable<ConstructorParameters<typeof PutItemCommand>[0]["Item"]>;
const put = (TableName: string, Item: Item) => client.send(new PutItemCommand({ TableName, Item }));
const deleteItem = (TableName: string, S: string) =>
  client.send(new DeleteItemCommand({ TableName, Key: { keyId: { S } } }));
const itemsOf = async (TableName: string) => {
  const { Items = [] } = await client.send(new ScanCommand({ TableName }));
  return Items.toSorted((a, b) => Number(a.id?.N) - Number(b.id?.N));
};
const copy = (...args: string[]) => runHere(copyProgram, "copy", args, environment);
const pet = (id: number, name = "Rex"): Item => ({
  id: { N: String(id) },
  name: { S: name },
  categoryId: { N: String(2n ** 63n - BigInt(id)) },
});

let from: Awaited<ReturnType<typeof createOwnTables>>;
let to: typeof from;
beforeEach(async () => {
  from = await createOwnTables();
  to = await createOwnTables();
});
afterEach(() => void jest.restoreAllMocks());

it("copies the items that are missing, and leaves all others as they are", async () => {
  const all = Array.from({ length: 60 }, (_, n) => pet(n + 1)); // more than a page
  await Promise.all(all.map((item) => put(from.petsTable, item)));
  const { status: _, ...deleted } = pet(1);
  for (const item of [deleted, pet(2, "Newer"), pet(61)]) await put(to.petsTable, item);
  const stdout = "58 of 60 items were missing and are copied.\n";
  expect(await copy(from.petsTable, to.petsTable)).toEqual({ code: 0, stdout, stderr: "" });
  expect(await itemsOf(to.petsTable)).toEqual([deleted, pet(2, "Newer"), ...all.slice(2), pet(61)]);
});

it("replaces the items that it is told to, and copies those of them that are missing", async () => {
  for (const id of [1, 2, 3]) await put(from.petsTable, pet(id));
  const damaged = { ...pet(1, "damaged"), left: { BOOL: true } };
  await put(to.petsTable, damaged);
  const stdout = "1: copied.\n2: copied.\n";
  expect(await copy(from.petsTable, to.petsTable, "1", "2")).toEqual({ code: 0, stdout, stderr: "" });
  expect(await itemsOf(to.petsTable)).toEqual([pet(1), pet(2)]);
});

it("restores keys by their key ID, except for those that were revoked or rotated since", async () => {
  const [source, target] = [apiKeyStore(from.apiKeysTable), apiKeyStore(to.apiKeysTable)];
  const records = [1, 2, 3, 4].map((createdAt) =>
    newApiKeyRecord(generateApiKey("staging"), { owner: "Acme", scopes: ["pets:read"], createdAt }),
  );
  for (const record of records) await source.add(record);
  const ids = records.map(({ keyId }) => keyId);
  const [lost = "", damaged = "", revoked = "", rotated = ""] = ids;
  for (const id of [damaged, revoked, rotated]) await put(to.apiKeysTable, { keyId: { S: id } });
  await target.revoke(revoked, 5);
  await target.rotate(rotated, 9);
  const why = "not copied, because it was revoked or rotated";
  expect(await copy(from.apiKeysTable, to.apiKeysTable, ...ids)).toEqual({
    code: 0,
    stdout: `${lost}: copied.\n${damaged}: copied.\n${revoked}: ${why}.\n${rotated}: ${why}.\n`,
    stderr: "",
  });
  const found = await Promise.all(ids.map(async (id) => (await target.get(id))?.record));
  expect(found).toEqual([...records.slice(0, 2), undefined, undefined]);
  await deleteItem(to.apiKeysTable, lost);
  const printed = `${lost}: copied.\n1 of 4 items were missing and are copied.\n`;
  expect(await copy(from.apiKeysTable, to.apiKeysTable)).toEqual({ code: 0, stdout: printed, stderr: "" });
});

it("gives up on a server that does not respond", async () => {
  const requestHandler = { ...AWS_CLIENT_OPTIONS.requestHandler, requestTimeout: 300 };
  jest.replaceProperty(AWS_CLIENT_OPTIONS, "requestHandler", requestHandler);
  const received = jest.fn();
  const silent = await listen(createServer(received));
  const ofSilent = { ...environment, AWS_ENDPOINT_URL_DYNAMODB: silent.origin };
  const result = runHere(copyProgram, "copy", [from.petsTable, to.petsTable], ofSilent);
  expect(await result.finally(silent.close)).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^copy: .+\n$/),
  });
  expect(received).toHaveBeenCalledTimes(AWS_CLIENT_OPTIONS.maxAttempts);
});

it("says what it does not find, and mixes no pets with keys", async () => {
  const keyId = `key_${hashApiKey("x").slice(0, 16)}`;
  for (const [args, message] of [
    [[from.petsTable, to.petsTable, "1"], `${from.petsTable} has no 1.`],
    [[from.apiKeysTable, to.apiKeysTable, keyId], `${from.apiKeysTable} has no ${keyId}.`],
    [[from.petsTable, to.apiKeysTable], expect.stringContaining("have items of different kinds.")],
    [["nowhere", to.petsTable], expect.stringMatching(/not found|non-existent/i)],
  ] as const) {
    const { code, stderr } = await copy(...args);
    expect({ code, message: stderr.slice("copy: ".length, -1) }).toEqual({ code: 1, message });
  }
});
