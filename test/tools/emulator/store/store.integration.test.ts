import { once } from "node:events";
import { mkdtempDisposable, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { AbstractLevel } from "abstract-level";
import { useStore } from "../../../../tools/emulator/store/aws-environment.ts";
import { closeIterators } from "../../../../tools/emulator/store/close-iterators.ts";
import { createTables } from "../../../../tools/emulator/store/create-tables.ts";
import { type Store, startStore } from "../../../../tools/emulator/store/store.ts";
import { eventually } from "../../../support/eventually.ts";

/** What a request has whose signature is not checked. */
const signed = ({ accessKeyId }: { accessKeyId: string }, operation: string) => ({
  Authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20261122/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
  "X-Amz-Date": "20261122T000000Z",
  "X-Amz-Target": `DynamoDB_20120810.${operation}`,
  "Content-Type": "application/x-amz-json-1.0",
});

async function send(store: Store, operation: string, input: object, more = {}, method = "POST") {
  const options = { method, agent: false, headers: { ...signed(store, operation), ...more } };
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

it("says why it cannot open a folder or use a table", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-store-"));
  const { path } = folder;
  const kept = await startStore(path);
  useStore(kept);
  await createTables([table]);
  const used = `The data folder ${path} cannot be opened, see DATA_DIR: another service uses it.`;
  await expect(startStore(path)).rejects.toThrow(used);
  await rename(join(path, "CURRENT"), `${path}.lost`); // as in a folder that another service is making
  await expect(startStore(path)).rejects.toThrow(used);
  await rename(`${path}.lost`, join(path, "CURRENT"));
  const Projection = { ProjectionType: "ALL" as const };
  const index = { IndexName: "new", KeySchema: table.KeySchema, Projection };
  const indexed = { ...table, GlobalSecondaryIndexes: [index] };
  await expect(createTables([indexed])).rejects.toThrow("The table kept has no index new: ");
  await kept.close();
  useStore({ endpoint: "http://127.0.0.1:1" });
  const unused = /^The DynamoDB endpoint http:\/\/127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/;
  await expect(createTables([table])).rejects.toThrow(unused);
  const log = (await readdir(path)).find((name) => name.endsWith(".log")) ?? "";
  for (const lost of ["CURRENT", log]) {
    await rename(join(path, lost), `${path}.lost`);
    const names = await readdir(path);
    await expect(startStore(path)).rejects.toThrow("see DATA_DIR: it has no readable ");
    expect(await readdir(path)).toEqual(names);
    await symlink(".", join(path, lost)); // a folder cannot be read
    await expect(startStore(path)).rejects.toThrow("see DATA_DIR: it has no readable ");
    await rename(`${path}.lost`, join(path, lost));
  }
  await writeFile(join(path, "CURRENT"), "garbage");
  await expect(startStore(path)).rejects.toThrow(`The data folder ${path} cannot be opened, see DATA_DIR: `);
});

describe("a store", () => {
  let store: Store;
  beforeAll(async () => {
    store = await startStore();
    useStore(store);
    await createTables([table]);
  });
  afterAll(() => store.close());

  it("keeps its data when a request is incomplete", async () => {
    const { host, port } = new URL(store.endpoint);
    const lines = { ...signed(store, "ListTables"), Host: host, "Content-Length": 5 };
    const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(Number(port), "127.0.0.1");
    socket.resume().end(`POST / HTTP/1.1\r\n${head.join("")}\r\n{}`);
    await once(socket, "close");
    expect((await send(store, "ListTables", {})).body).toBe('{"TableNames":["kept"]}');
  });

  it.each<[string, Record<string, string>, method?: string]>([
    ["a preflight of a web page", { Origin: "http://a", Authorization: "" }, "OPTIONS"],
    ["no credential", { Authorization: "" }],
    ["another credential", { Authorization: "AWS4-HMAC-SHA256 Credential=local/20261122/" }],
  ])("refuses %s", async (...[, headers, method]) => {
    const response = await send(store, "DeleteTable", { TableName }, headers, method);
    expect(response).toMatchObject({ status: 403, body: expect.stringContaining("UnrecognizedClient") });
    expect(Object.keys(response.headers).join()).not.toContain("access-control");
  });

  it("closes the iterators that dynalite leaves open", async () => {
    // It does not replace a return() that exists.
    expect(closeIterators).toThrow("remove tools/emulator/store/close-iterators.ts");
    // A database holds its iterators from attachResource to detachResource.
    const attached = jest.spyOn(AbstractLevel.prototype, "attachResource");
    const detached = jest.spyOn(AbstractLevel.prototype, "detachResource");
    await send(store, "Scan", { TableName, Limit: 1 });
    expect(attached).toHaveBeenCalled();
    // The stream closes its iterator after the response.
    const open = () => attached.mock.calls.length - detached.mock.calls.length;
    await eventually(open, (count) => expect(count).toBe(0));
  });
});
