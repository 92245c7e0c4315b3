import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { ClassicLevel } from "classic-level";
import { DataInUse, type Store, startStore } from "../../../local/store/store.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-store-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("startStore", () => {
  it("opens a folder for one of several callers at the same moment, and throws DataInUse for the others", async () => {
    for (let round = 0; round < 2; round++) {
      const path = join(folder, String(round));
      const attempts: ReturnType<typeof startStore>[] = [];
      // One call starts at every turn of the event loop, so that calls overlap with every step of the first.
      for (let n = 0; n < 40; n++) {
        attempts.push(startStore(path));
        attempts.at(-1)?.catch(() => undefined);
        await turn();
      }
      const results = await Promise.allSettled(attempts);
      const started = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      const reasons = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      for (const store of started) await store.close().catch(() => undefined);
      expect(started).toHaveLength(1);
      for (const reason of reasons) expect(reason).toBeInstanceOf(DataInUse);
    }
  });

  it("releases the folder when it closes, also while a client is connected, and reports no failure", async () => {
    const error = jest.spyOn(console, "error");
    for (let round = 0; round < 2; round++) {
      const store = await startStore(folder);
      await once(
        connect(Number(new URL(store.endpoint).port), "127.0.0.1").on("error", () => undefined),
        "connect",
      );
      await expect(startStore(folder)).rejects.toThrow(DataInUse);
      await store.close();
    }
    expect(error.mock.calls).toEqual([]);
    error.mockRestore();
  });

  it("says so when LevelDB left out what is damaged", async () => {
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
      [expect.stringMatching(/is damaged\. Pets or keys can be missing: .*checksum mismatch$/)],
    ]);
    error.mockRestore();
  });
});

describe("a store", () => {
  let store: Store;

  beforeAll(async () => {
    store = await startStore();
    expect(store.accessKeyId).toMatch(/^[\da-f]{40}$/);
    const keys = {
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
    };
    const { status } = await send("CreateTable", {
      TableName: "kept",
      BillingMode: "PAY_PER_REQUEST",
      ...keys,
    });
    expect(status).toBe(200);
  });
  afterAll(() => store.close());

  /** Sends a request, and then nothing more; waits until the store has closed the connection. */
  async function send(
    operation: string,
    body: object,
    { method = "POST", missingBytes = 0, headers = {} as Record<string, string> } = {},
  ) {
    const { hostname, port, host } = new URL(store.endpoint);
    const json = JSON.stringify(body);
    const lines = {
      Host: host,
      Authorization: `AWS4-HMAC-SHA256 Credential=${store.accessKeyId}/20261122/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
      "X-Amz-Date": "20261122T000000Z",
      "X-Amz-Target": `DynamoDB_20120810.${operation}`,
      "Content-Type": "application/x-amz-json-1.0",
      "Content-Length": String(json.length + missingBytes),
      Connection: "close",
      ...headers,
    };
    const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let reply = "";
    socket.on("data", (text) => (reply += text));
    socket[missingBytes > 0 ? "end" : "write"](`${method} / HTTP/1.1\r\n${head.join("")}\r\n${json}`);
    await once(
      socket.on("end", () => socket.end()),
      "close",
    );
    return { status: Number(reply.split(" ")[1]), reply };
  }

  it("keeps its data when a request is incomplete", async () => {
    await send("ListTables", {}, { missingBytes: 5 });
    expect((await send("ListTables", {})).reply).toContain('{"TableNames":["kept"]}');
  });

  it.each<[string, Parameters<typeof send>[2]]>([
    ["a preflight of a web page", { method: "OPTIONS", headers: { Origin: "http://a", Authorization: "" } }],
    ["a web page of another origin", { headers: { Origin: "null" } }],
    ["a web page of the same origin", { headers: { "Sec-Fetch-Site": "same-origin" } }],
    ["another host name", { headers: { Host: "localhost" } }],
    ["no credential", { headers: { Authorization: "" } }],
    ["another credential", { headers: { Authorization: "AWS4-HMAC-SHA256 Credential=local/20261122/" } }],
  ])("refuses %s", async (_name, request) => {
    const { status, reply } = await send("DeleteTable", { TableName: "kept" }, request);
    expect(status).toBe(403);
    expect(reply).toContain("UnrecognizedClientException");
    expect(reply).not.toMatch(/access-control/i);
  });
});
