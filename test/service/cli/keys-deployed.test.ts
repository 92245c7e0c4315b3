import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import {
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  paginateScan,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { program } from "../../../cli/keys-program.ts";
import { ownTables } from "../../support/own-tables.ts";
import { runInProcess } from "../../support/run-in-process.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = Date.parse("2026-11-21T12:00:00Z");
const iso = (at: number) => new Date(at).toISOString();

/** The outputs of the deployed stacks, or the error that CloudFormation returns. */
let stacks: Record<string, Record<string, string> | { Code: string; Message: string }> = {};

const element = (name: string, content: string) => `<${name}>${content}</${name}>`;

// AWS: "DescribeStacks", examples, and "Common errors".
const cloudFormation = createServer(async (request, response) => {
  const name = new URLSearchParams(await text(request)).get("StackName") ?? "";
  const stack = stacks[name] ?? { Code: "ValidationError", Message: `Stack with id ${name} does not exist` };
  if (stack.Code !== undefined) {
    const error = Object.entries({ Type: "Sender", ...stack }).map(([key, value]) => element(key, value));
    response.writeHead(400, { "Content-Type": "text/xml" });
    return void response.end(element("ErrorResponse", element("Error", error.join(""))));
  }
  const outputs = Object.entries(stack).map(([key, value]) =>
    element("member", element("OutputKey", key) + element("OutputValue", value)),
  );
  const member = element("member", element("StackName", name) + element("Outputs", outputs.join("")));
  response.writeHead(200, { "Content-Type": "text/xml" });
  response.end(element("DescribeStacksResponse", element("DescribeStacksResult", element("Stacks", member))));
});

const region = { AWS_REGION: "eu-west-1" };
const credentials = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
const endpoints = () => ({
  AWS_ENDPOINT_URL_CLOUDFORMATION: `http://127.0.0.1:${(cloudFormation.address() as AddressInfo).port}`,
  AWS_ENDPOINT_URL_DYNAMODB: process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "",
});

const run = (args: string[], environment: Record<string, string>) =>
  runInProcess(program, "keys", args, { ...endpoints(), ...environment });
const keys = (...args: string[]) => run([...args, "--stage", "staging"], { ...region, ...credentials });
const print = async (...args: string[]) => {
  const { code, stdout, stderr } = await keys(...args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
};
const json = async (...args: string[]) => JSON.parse(await print(...args, "--json"));
const failure = (message: string) => ({ code: 1, stdout: "", stderr: `keys: ${message}\n` });

let keysTable: string;
let otherTables: string[];
let dynamodb: DynamoDBClient;
let now: number;

beforeAll(async () => {
  const tables = await ownTables();
  keysTable = tables.keys;
  otherTables = [tables.pets, tables.claims];
  dynamodb = new DynamoDBClient();
  await once(cloudFormation.listen(0, "127.0.0.1"), "listening");
});
beforeEach(() => {
  const outputs = { BaseUrl: "x", PetsTableName: otherTables[0] ?? "", KeysTableName: keysTable };
  stacks = { "animal-store-staging": outputs };
  now = start;
  jest.spyOn(Date, "now").mockImplementation(() => now);
});
afterEach(async () => {
  jest.restoreAllMocks();
  for await (const { Items = [] } of paginateScan({ client: dynamodb }, { TableName: keysTable })) {
    for (const { hash = { S: "" } } of Items)
      await dynamodb.send(new DeleteItemCommand({ TableName: keysTable, Key: { hash } }));
  }
});
afterAll(() => {
  dynamodb.destroy();
  cloudFormation.close();
});

describe("issue", () => {
  it("prints the key and its record", async () => {
    expect(await print("issue", "--name", "Acme 🐕", "--expires", "7d", "--scopes", "pets:read")).toMatch(
      /^Key ID {3}key_[0-9a-f]{16}\nName {5}Acme 🐕\nState {4}live\nScopes {3}pets:read\nCreated {2}2026-11-21T12:00:00.000Z\nExpires {2}2026-11-28T12:00:00.000Z\nAPI key {2}ask_staging_[0-9A-Za-z]{33}\n\nSave the API key now: it is not shown again.\n$/,
    );
  });

  it("issues a key with both scopes that never expires by default", async () => {
    expect(await json("issue", "--name", "Acme")).toEqual({
      keyId: expect.stringMatching(/^key_[0-9a-f]{16}$/),
      name: "Acme",
      state: "live",
      scopes: ["pets:read", "pets:write"],
      createdAt: iso(start),
      expiresAt: null,
      revokedAt: null,
      key: expect.stringMatching(/^ask_staging_[0-9A-Za-z]{33}$/),
    });
  });

  it("writes to the keys table only, and not the key itself", async () => {
    const { key, keyId } = await json("issue", "--name", "Acme");
    const items = async (TableName: string) => (await dynamodb.send(new ScanCommand({ TableName }))).Items;
    const stored = await items(keysTable);
    expect(stored).toMatchObject([{ keyId: { S: keyId }, name: { S: "Acme" } }]);
    expect(JSON.stringify(stored)).not.toContain(key.slice("ask_staging_".length));
    for (const table of otherTables) expect(await items(table)).toEqual([]);
  });
});

describe("list", () => {
  it("prints the oldest key first, and keys of the same age in the order of their IDs", async () => {
    const issued: { keyId: string }[] = [];
    for (let n = 0; n < 4; n++) issued.push(await json("issue", "--name", "Acme"));
    now += 1;
    const last = await json("issue", "--name", "Last");
    now -= 2;
    const first = await json("issue", "--name", "First", "--scopes", "pets:write");
    const ids = [first.keyId, ...issued.map(({ keyId }) => keyId).sort(), last.keyId];
    const listed = await json("list");
    expect(listed.map(({ keyId }: { keyId: string }) => keyId)).toEqual(ids);
    const { key: _, ...record } = first;
    expect(listed[0]).toEqual(record);
    const [heading, row] = (await print("list")).split("\n");
    expect([heading, row]).toEqual([
      "KEY ID                STATE  SCOPES      NAME",
      `${first.keyId}  live   write       First`,
    ]);
  });

  it("says that there are no keys", async () => {
    expect([await print("list"), await json("list")]).toEqual(["There are no keys in staging.\n", []]);
  });

  it("reads more than one page of a Scan", async () => {
    // A Scan returns at most 1 MB (AWS: "Scan", paginating the results).
    const ids = ["key_0", "key_1", "key_2", "key_3", "key_4"];
    for (const keyId of ids) {
      const Item = {
        hash: { S: `padding-${keyId}` },
        keyId: { S: keyId },
        name: { S: "Padded" },
        padding: { S: "x".repeat(300_000) },
        scopes: { SS: ["pets:read"] },
        createdAt: { N: "1" },
      };
      await dynamodb.send(new PutItemCommand({ TableName: keysTable, Item }));
    }
    expect((await json("list")).map(({ keyId }: { keyId: string }) => keyId)).toEqual(ids);
  });
});

it("shows the record of one key", async () => {
  await json("issue", "--name", "Other");
  const { key: _, ...record } = await json("issue", "--name", "Acme");
  expect(await json("show", record.keyId)).toEqual(record);
  expect(await print("show", record.keyId)).toBe(`Key ID   ${record.keyId}
Name     Acme
State    live
Scopes   pets:read, pets:write
Created  2026-11-21T12:00:00.000Z
Expires  never
`);
});

describe("rotate", () => {
  it("issues a key with the same name, scopes and lifetime, and ends the old one after 24 hours", async () => {
    const old = await json("issue", "--name", "Acme", "--scopes", "pets:read", "--expires", "7d");
    now += DAY;
    const { keyId, key, ...next } = await json("rotate", old.keyId);
    expect([keyId === old.keyId, key === old.key]).toEqual([false, false]);
    expect(next).toEqual({
      name: "Acme",
      state: "live",
      scopes: ["pets:read"],
      createdAt: iso(now),
      expiresAt: iso(now + 7 * DAY),
      revokedAt: null,
    });
    expect(await json("show", old.keyId)).toMatchObject({
      state: "rotating",
      createdAt: old.createdAt,
      expiresAt: old.expiresAt,
      revokedAt: iso(now + DAY),
    });
  });

  it.each([
    ["the grace period", [], start + 2 * HOUR],
    ["the lifetime of the old key", ["--expires", "1h"], start + HOUR],
  ])("says when the old key ends: after %s", async (_what, expires, end) => {
    const { keyId } = await json("issue", "--name", "Acme", ...expires);
    const printed = await print("rotate", keyId, "--grace", "2h");
    expect(printed).toMatch(/^Key ID {3}key_[0-9a-f]{16}\nName {5}Acme\n/);
    expect(printed).toContain("Save the API key now: it is not shown again.\n");
    expect(printed.split("\n").at(-2)).toBe(`${keyId} works until ${iso(end)}.`);
  });

  it("issues a successor that never expires for a key that never expires", async () => {
    const { keyId } = await json("issue", "--name", "Acme");
    expect((await json("rotate", keyId)).expiresAt).toBeNull();
  });

  it("refuses a key that is already rotating, and issues nothing", async () => {
    const { keyId } = await json("issue", "--name", "Acme", "--expires", "1h");
    await json("rotate", keyId);
    expect(await keys("rotate", keyId)).toEqual(
      failure(
        `The key ${keyId} is already rotating and works until ${iso(start + HOUR)}: use its successor, or issue a new key.`,
      ),
    );
    expect(await json("list")).toHaveLength(2);
  });

  it("refuses a key that no longer works, and issues nothing", async () => {
    const { keyId } = await json("issue", "--name", "Acme", "--expires", "1h");
    now += HOUR;
    expect(await keys("rotate", keyId)).toEqual(
      failure(`The key ${keyId} no longer works: issue a new one.`),
    );
    expect(await json("list")).toHaveLength(1);
  });
});

describe("revoke", () => {
  it("ends a key now, and says how long the gateway can still accept it", async () => {
    const { keyId } = await json("issue", "--name", "Acme");
    now += HOUR;
    expect(await print("revoke", keyId)).toBe(
      `Revoked ${keyId}. The gateway caches valid keys: it can keep working for 60 s.\n`,
    );
    expect(await json("show", keyId)).toMatchObject({ state: "revoked", revokedAt: iso(now) });
    now += HOUR;
    expect(await print("revoke", keyId)).toBe(`${keyId} was already revoked, on ${iso(start + HOUR)}.\n`);
    expect(await json("revoke", keyId)).toMatchObject({ state: "revoked", revokedAt: iso(start + HOUR) });
  });

  it("ends a rotating key before its grace period", async () => {
    const { keyId } = await json("issue", "--name", "Acme");
    await json("rotate", keyId);
    expect(await json("revoke", keyId)).toMatchObject({ state: "revoked", revokedAt: iso(now) });
  });
});

it.each(["show", "rotate", "revoke"])("%s reports a key that does not exist", async (command) => {
  const id = "key_0000000000000000";
  expect(await keys(command, id)).toEqual(failure(`There is no key ${id} in staging.`));
});

it("changes production with --yes, in its own table", async () => {
  stacks["animal-store-production"] = stacks["animal-store-staging"] ?? {};
  delete stacks["animal-store-staging"];
  const production = (...args: string[]) =>
    run([...args, "--stage", "production", "--json"], { ...region, ...credentials });
  const { keyId, key } = JSON.parse((await production("issue", "--name", "Acme", "--yes")).stdout);
  expect(key).toMatch(/^ask_production_/);
  for (const [command, question] of [
    ["rotate", "Rotate"],
    ["revoke", "Revoke"],
  ] as const) {
    expect(await production(command, keyId)).toEqual(
      failure(`${question} ${keyId} in production? Add --yes to confirm it without a terminal.`),
    );
    expect((await production(command, keyId, "--yes")).code).toBe(0);
  }
  expect(JSON.parse((await production("list")).stdout)).toHaveLength(2);
});

describe("a stack that cannot be used", () => {
  it("is not deployed", async () => {
    expect(await run(["list", "--stage", "production"], { ...region, ...credentials })).toEqual(
      failure("The stack animal-store-production is not deployed in eu-west-1."),
    );
  });

  it("has no keys table", async () => {
    stacks["animal-store-staging"] = { PetsTableName: "Pets" };
    expect(await keys("list")).toEqual(
      failure("The stack animal-store-staging in eu-west-1 is incomplete: it has no keys table."),
    );
  });

  it("cannot be read", async () => {
    const Message = "not authorized to perform: cloudformation:DescribeStacks";
    stacks["animal-store-staging"] = { Code: "AccessDenied", Message };
    expect(await keys("list")).toEqual(
      failure(`AWS refused to describe the stack animal-store-staging: ${Message}`),
    );
  });
});

it.each([
  ["its code", { name: "Error", code: "ECONNREFUSED" }, "ECONNREFUSED"],
  ["its name, without a code", { name: "TimeoutError" }, "TimeoutError"],
])("reports a network error with %s", async (_what, properties, shown) => {
  const error = Object.assign(new Error("no response"), properties);
  jest.spyOn(CloudFormationClient.prototype, "send").mockImplementation(() => Promise.reject(error));
  expect(await keys("list")).toEqual(
    failure(`AWS cannot be reached in eu-west-1 (${shown}): check the network and the region.`),
  );
});

describe("an AWS profile", () => {
  const settings = "aws_access_key_id = test\naws_secret_access_key = test\nregion = eu-west-1\n";

  it.each([
    ["config", `[profile operator]\n${settings}`, ""],
    ["credentials", "", `[operator]\n${settings}`],
  ])("can be in the file of the %s", async (_which, config, credentialsText) => {
    const folder = await mkdtemp(join(tmpdir(), "animal-store-profile-"));
    const files = {
      AWS_CONFIG_FILE: join(folder, "config"),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials"),
    };
    await writeFile(files.AWS_CONFIG_FILE, config);
    await writeFile(files.AWS_SHARED_CREDENTIALS_FILE, credentialsText);
    const list = (AWS_PROFILE: string) =>
      run(["list", "--stage", "staging"], { ...region, ...files, AWS_PROFILE });
    expect(await list("operator")).toMatchObject({ code: 0, stderr: "" });
    expect(await list("nope")).toEqual(failure("There is no AWS profile nope: check AWS_PROFILE."));
    await rm(folder, { recursive: true });
  });
});
