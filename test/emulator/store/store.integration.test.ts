import { once } from "node:events";
import { mkdtempDisposable, readdir, readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { AbstractLevel } from "abstract-level";
import { ClassicLevel } from "classic-level";
import dynalite from "dynalite";
import { closeIterators } from "../../../emulator/store/close-iterators.ts";
import { createTables } from "../../../emulator/store/create-tables.ts";
import { lockFolder, type Store, startStore } from "../../../emulator/store/store.ts";
import { writeAtOnce } from "../../../emulator/store/write-at-once.ts";
import { eventually, occurs } from "../../support/eventually.ts";
import { listen } from "../../support/listen.ts";

const emptyFolder = () => mkdtempDisposable(join(tmpdir(), "animal-store-store-"));

describe("startStore", () => {
  it("releases the folder when it closes, also while a client is connected, and reports no failure", async () => {
    await using temporary = await emptyFolder();
    const { path: folder } = temporary;
    const error = jest.spyOn(console, "error");
    for (let round = 0; round < 2; round++) {
      const store = await startStore(folder);
      await once(
        connect(Number(new URL(store.endpoint).port), "127.0.0.1").on("error", () => undefined),
        "connect",
      );
      await store.close();
    }
    expect(error.mock.calls).toEqual([]);
    error.mockRestore();
  });

  it("says what is damaged: what LevelDB left out, or why it opens nothing", async () => {
    await using temporary = await emptyFolder();
    const { path: folder } = temporary;
    const data = new ClassicLevel(folder);
    await data.put("pet", "Rex");
    await data.close();
    const [log = ""] = (await readdir(folder)).filter((name) => name.endsWith(".log"));
    const bytes = await readFile(join(folder, log));
    bytes[bytes.length - 1] = 0;
    await writeFile(join(folder, log), bytes);
    const error = jest.spyOn(console, "error").mockImplementation(() => undefined);
    for (const _start of ["reports it", "has nothing to report"]) await (await startStore(folder)).close();
    expect(error.mock.calls).toEqual([
      [expect.stringMatching(/is damaged\. Items can be missing: .*checksum mismatch$/)],
    ]);
    error.mockRestore();
    await writeFile(join(folder, "CURRENT"), "garbage");
    await expect(startStore(folder)).rejects.toThrow(`The data folder ${folder} cannot be opened: `);
    await writeFile(join(folder, "in-use"), "");
    await expect(lockFolder(folder)).rejects.toThrow(`The data folder ${folder} cannot be opened: `);
  });
});

/** What a request has whose signature is not checked. */
const signed = ({ accessKeyId }: { accessKeyId: string }, operation: string) => ({
  Authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20261122/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
  "X-Amz-Date": "20261122T000000Z",
  "X-Amz-Target": `DynamoDB_20120810.${operation}`,
  "Content-Type": "application/x-amz-json-1.0",
});

async function send(
  store: Pick<Store, "endpoint" | "accessKeyId">,
  operation: string,
  input: object,
  { method = "POST", headers = {} as Record<string, string> } = {},
) {
  const options = { method, agent: false, headers: { ...signed(store, operation), ...headers } };
  const [response] = await once(request(store.endpoint, options).end(JSON.stringify(input)), "response");
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

const TableName = "kept";
const table = {
  TableName,
  BillingMode: "PAY_PER_REQUEST" as const,
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" as const }],
  AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" as const }],
};

describe("a store", () => {
  let store: Store;

  beforeAll(async () => {
    store = await startStore();
    expect(store.accessKeyId).toMatch(/^[\da-f]{40}$/);
    await createTables(store, [table]);
  });
  afterAll(() => store.close());

  it("keeps its data when a request is incomplete", async () => {
    const { host, port } = new URL(store.endpoint);
    const lines = { ...signed(store, "ListTables"), Host: host, "Content-Length": 5 };
    const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(Number(port), "127.0.0.1");
    socket.resume().end(`POST / HTTP/1.1\r\n${head.join("")}\r\n{}`);
    await occurs("the store closes the connection", socket, "close");
    expect((await send(store, "ListTables", {})).body).toBe('{"TableNames":["kept"]}');
  });

  it.each<[string, Parameters<typeof send>[3]]>([
    ["a preflight of a web page", { method: "OPTIONS", headers: { Origin: "http://a", Authorization: "" } }],
    ["a web page of another origin", { headers: { Origin: "null" } }],
    ["a web page of the same origin", { headers: { "Sec-Fetch-Site": "same-origin" } }],
    ["another host name", { headers: { Host: "localhost" } }],
    ["no credential", { headers: { Authorization: "" } }],
    ["another credential", { headers: { Authorization: "AWS4-HMAC-SHA256 Credential=local/20261122/" } }],
  ])("refuses %s", async (_name, options) => {
    const { status, headers, body } = await send(store, "DeleteTable", { TableName }, options);
    expect({ status, body }).toEqual({
      status: 403,
      body: expect.stringContaining("UnrecognizedClientException"),
    });
    expect(Object.keys(headers).join()).not.toContain("access-control");
  });
});

it("closes the iterators that dynalite leaves open", async () => {
  closeIterators();
  // It does not replace a return() that exists.
  expect(closeIterators).toThrow("remove emulator/store/close-iterators.ts");
  // A database holds its iterators from attachResource to detachResource.
  const attached = jest.spyOn(AbstractLevel.prototype, "attachResource");
  const detached = jest.spyOn(AbstractLevel.prototype, "detachResource");
  const { origin: endpoint, close } = await listen(dynalite({ createTableMs: 0 }));
  await createTables({ endpoint }, [table]);
  await send({ endpoint, accessKeyId: "local" }, "Scan", { TableName, Limit: 1 });
  expect(attached).toHaveBeenCalled();
  // The stream closes its iterator after the response.
  await eventually(
    () => attached.mock.calls.length - detached.mock.calls.length,
    (open) => expect(open).toBe(0),
  );
  await close();
});

it("writes an item and its entries in the indexes in one batch", async () => {
  writeAtOnce();
  const batch = jest.spyOn(AbstractLevel.prototype, "batch");
  const { origin: endpoint, close } = await listen(dynalite({ createTableMs: 0 }));
  const status = { AttributeName: "status", AttributeType: "S" as const };
  const KeySchema = [{ AttributeName: "status", KeyType: "HASH" as const }];
  const index = { IndexName: "byStatus", KeySchema, Projection: { ProjectionType: "ALL" as const } };
  const AttributeDefinitions = [...table.AttributeDefinitions, status];
  await createTables({ endpoint }, [{ ...table, AttributeDefinitions, GlobalSecondaryIndexes: [index] }]);
  const write = (operation: string, input: object) =>
    send({ endpoint, accessKeyId: "local" }, operation, { TableName, ...input });
  const Key = { id: { S: "1" } };
  await write("PutItem", { Item: { ...Key, status: { S: "new" } } });
  await write("UpdateItem", { Key, AttributeUpdates: { status: { Value: { S: "changed" } } } });
  await write("DeleteItem", { Key });
  await write("DeleteItem", { Key }); // which has nothing to write
  await close();
  const calls = batch.mock.calls as unknown as [{ type: string; key: string }[]][];
  const places = calls.map(([writes]) => writes.map(({ type, key }) => `${type} ${key.split("~")[0]}`));
  expect(places).toEqual([
    ["put index-global", "put item-kept"],
    ["del index-global", "put index-global", "put item-kept"],
    ["del index-global", "del item-kept"],
  ]);
  batch.mockRestore();
});
