import { createHash } from "node:crypto";
import { mkdir, mkdtemp, mkdtempDisposable, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { type AttributeValue, DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { program } from "../../../cli/keys-program.ts";
import { runProgram } from "../../../cli/run-program.ts";
import { hashApiKey } from "../../../lib/api-key.ts";
import { keyStore } from "../../../lib/dynamo/key-store.ts";
import { keysCli } from "../../support/keys-cli.ts";
import { listen } from "../../support/listen.ts";
import { ownTables } from "../../support/own-tables.ts";
import { capture, runInProcess } from "../../support/run-in-process.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = Date.parse("2026-11-21T12:00:00Z");
const iso = (at: number) => new Date(at).toISOString();

const other = await ownTables();
const tables = await ownTables();

const output = (key: string, value: string) =>
  `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`;
const petsTable = output("PetsTableName", tables.pets);
const stackWith = (outputs: string) =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${outputs}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
const deployed = stackWith(petsTable + output("KeysTableName", tables.keys));
const error = (code: string, message: string) =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

/** What CloudFormation returns for a stack. AWS: "DescribeStacks", examples, and "Common errors". */
let stacks: Record<string, string>;
const cloudFormation = await listen(
  createServer(async (request, response) => {
    const name = new URLSearchParams(await text(request)).get("StackName") ?? "";
    const body = stacks[name] ?? error("ValidationError", `Stack with id ${name} does not exist`);
    response.writeHead(body.startsWith("<Error") ? 400 : 200, { "Content-Type": "text/xml" }).end(body);
  }),
);

const region = { AWS_REGION: "eu-west-1" };
const { AWS_ACCESS_KEY_ID = "" } = process.env; // the store accepts no other
const credentials = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: "test" };
const endpoints = {
  AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.origin,
  AWS_ENDPOINT_URL_DYNAMODB: process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "",
};

const run = (args: string[], environment: Record<string, string> = credentials) =>
  runInProcess(program, "keys", args, { ...endpoints, ...region, ...environment });
const keys = (...args: string[]) => run([...args, "--stage", "staging"]);
const print = async (...args: string[]) => {
  const { code, stdout, stderr } = await keys(...args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
};
const json = async (...args: string[]) => JSON.parse(await print(...args, "--json"));
const failure = (message: string) => ({ code: 1, stdout: "", stderr: `keys: ${message}\n` });
/** The IDs of the keys of an owner, in the order of the list. */
const idsOf = async (owner: string) => {
  const listed: { keyId: string; name: string }[] = await json("list");
  return listed.filter(({ name }) => name === owner).map(({ keyId }) => keyId);
};

let now: number;
beforeEach(() => {
  stacks = { "animal-store-staging": deployed };
  now = start;
  jest.spyOn(Date, "now").mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(cloudFormation.close);

describe("issue", () => {
  it("prints the key and its record", async () => {
    expect(await print("issue", "--name", "Acme 🐕", "--expires", "7d", "--scopes", "pets:read")).toMatch(
      /^Key ID {3}key_[0-9a-f]{16}\nName {5}Acme 🐕\nState {4}live\nScopes {3}pets:read\nCreated {2}2026-11-21T12:00:00.000Z\nExpires {2}2026-11-28T12:00:00.000Z\nAPI key {2}ask_staging_[0-9A-Za-z]{33}\n\nSave the API key now: it is not shown again.\n$/,
    );
  });

  it("issues a key with both scopes that never expires by default", async () => {
    const { key, ...record } = await json("issue", "--name", "Acme");
    expect(key).toMatch(/^ask_staging_[0-9A-Za-z]{33}$/);
    expect(record).toEqual({
      keyId: expect.stringMatching(/^key_[0-9a-f]{16}$/),
      name: "Acme",
      state: "live",
      scopes: ["pets:read", "pets:write"],
      createdAt: iso(start),
      expiresAt: null,
      revokedAt: null,
    });
    expect(await json("show", record.keyId)).toEqual(record);
    expect(await json("list")).toContainEqual(record);
    expect(await print("show", record.keyId)).toMatch(/^Key ID .*Expires {2}never\n$/s);
    expect(await print("list")).toMatch(new RegExp(`^KEY ID .*\n${record.keyId}  live .* Acme\n`, "s"));
  });
});

describe("list", () => {
  it("prints the oldest key first, and keys of the same age in the order of their IDs", async () => {
    const issueAt = async (at: number): Promise<string> => {
      now = at;
      return (await json("issue", "--name", "Ordered")).keyId;
    };
    const last = await issueAt(start + 1);
    const same = [await issueAt(start), await issueAt(start), await issueAt(start), await issueAt(start)];
    const first = await issueAt(start - 1);
    expect(await idsOf("Ordered")).toEqual([first, ...same.sort(), last]);
  });

  it("says that there are no keys", async () => {
    stacks["animal-store-staging"] = stackWith(output("KeysTableName", tables.claims)); // which is empty
    expect([await print("list"), await json("list")]).toEqual(["There are no keys in staging.\n", []]);
  });
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
    ["the grace period", [], "2h", start + 2 * HOUR, "never"],
    ["no grace period", [], "0s", start, "never"],
    ["the lifetime of the old key", ["--expires", "1h"], "2h", start + HOUR, iso(start + HOUR)],
  ])("says when both keys end: the old one after %s", async (_what, expires, grace, end, nextEnd) => {
    const { keyId } = await json("issue", "--name", "Acme", ...expires);
    const printed = await print("rotate", keyId, "--grace", grace);
    expect(printed).toContain(`Expires  ${nextEnd}\nAPI key  ask_staging_`);
    expect(printed.split("\n").at(-2)).toBe(`${keyId} works until ${iso(end)}.`);
  });

  it("refuses a key that is already rotating or no longer works, and issues nothing", async () => {
    const { keyId } = await json("issue", "--name", "Refused", "--expires", "1h");
    await json("rotate", keyId);
    const already = `already rotating and works until ${iso(start + HOUR)}`;
    expect(await keys("rotate", keyId)).toEqual(
      failure(`The key ${keyId} is ${already}: use its successor, or issue a new key.`),
    );
    now += HOUR;
    expect(await keys("rotate", keyId)).toEqual(
      failure(`The key ${keyId} no longer works: issue a new one.`),
    );
    expect(await idsOf("Refused")).toHaveLength(2);
  });
});

/** Does something before each command of a kind that a program sends to the table. */
function interrupt(kind: string, act: () => unknown): void {
  const target = DynamoDBClient.prototype as unknown as { send: (...args: object[]) => Promise<unknown> };
  const { send } = target;
  jest.spyOn(target, "send").mockImplementation(async function (this: unknown, ...args) {
    if (args[0]?.constructor.name === kind) await act();
    return send.apply(this, args);
  });
}

describe("rotate, when the key changes after it was read", () => {
  const lost = (keyId: string) =>
    `keys: The key ${keyId} expired, or another command rotated or revoked it at the same time: no key was issued.\n`;
  const statesOf = async (owner: string) => {
    const listed: { name: string; state: string }[] = await json("list");
    return listed.flatMap(({ name, state }) => (name === owner ? state : [])).sort();
  };

  it("lets one of four rotations win, and no other successor works", async () => {
    const { keyId } = await json("issue", "--name", "Four");
    let go = () => {};
    const all = new Promise<void>((resolve) => {
      go = resolve;
    });
    let waiting = 0;
    interrupt("UpdateItemCommand", () => {
      if (++waiting === 4) go();
      return all;
    });
    const rotate = () => runProgram(program, "keys", ["rotate", keyId, "--stage", "staging", "--json"]);
    const run = await capture(() => Promise.all([rotate(), rotate(), rotate(), rotate()]), {
      ...endpoints,
      ...region,
      ...credentials,
    });
    expect(run.result.sort()).toEqual([0, 1, 1, 1]);
    expect(run.stderr).toBe(lost(keyId).repeat(3));
    expect(await json("show", JSON.parse(run.stdout).keyId)).toMatchObject({ name: "Four", state: "live" });
    expect(await statesOf("Four")).toEqual(["live", "revoked", "revoked", "revoked", "rotating"]);
  });

  it.each<[string, string, (hash: string) => unknown]>([
    ["is revoked", "revoked", (hash) => keyStore(tables.keys).revoke(hash, now)],
    ["is rotated", "rotating", (hash) => keyStore(tables.keys).replace(hash, "key_other", now + DAY, now)],
    [
      "expires",
      "expired",
      () => {
        now += DAY;
      },
    ],
  ])("issues nothing if it %s", async (owner, state, change) => {
    const { keyId, key } = await json("issue", "--name", owner, "--expires", "1d");
    interrupt("PutItemCommand", () => change(hashApiKey(key)));
    expect(await keys("rotate", keyId)).toEqual({ code: 1, stdout: "", stderr: lost(keyId) });
    expect(await statesOf(owner)).toEqual([state, "revoked"].sort());
  });

  it.each([
    ["PutItemCommand", ["live"]],
    ["UpdateItemCommand", ["live", "revoked"]],
  ])("leaves it as it was if the first %s fails", async (kind, states) => {
    const { keyId } = await json("issue", "--name", kind);
    const fail = jest.fn<() => void>().mockImplementationOnce(() => {
      throw new Error("down");
    });
    interrupt(kind, fail);
    expect(await keys("rotate", keyId)).toEqual(failure("down"));
    expect(await statesOf(kind)).toEqual(states);
    expect((await json("show", keyId)).state).toBe("live");
  });
});

describe("a table that others have changed", () => {
  const damaged = (id: string) =>
    `The record of the key ${id} is damaged, so the key does not work: revoke it.`;
  const put = (item: Record<string, AttributeValue>) =>
    new DynamoDBClient({}).send(new PutItemCommand({ TableName: other.keys, Item: item }));
  const item = (hash: string, name: string, scope: string) => ({
    hash: { S: hash },
    name: { S: name },
    scopes: { SS: [scope] },
    createdAt: { N: "1" },
  });

  beforeEach(() => {
    stacks = { "animal-store-staging": stackWith(output("KeysTableName", other.keys)) };
  });

  it("does not reach the terminal as control characters", async () => {
    // Set the title, colours in 7 and 8 bits, the direction of text, a row of its own, and no character at all.
    const hostile = "\u001b]0;x\u0007\u001b[31m\u009b31m\u202e\u2066\nkey_\u007f\udc00\u{e0001}";
    const hash = "a".repeat(64);
    await put(item(hash, hostile, hostile));
    await put(item("c".repeat(64), "x".repeat(30_000), "pets:read"));
    await put(item(hostile, "x", "pets:read"));
    const id = `key_${"a".repeat(16)}`;
    for (const args of [["list"], ["list", "--json"], ["show", id], ["show", id, "--json"], ["rotate", id]]) {
      const { code, stdout, stderr } = await keys(...args);
      expect([args, code]).toEqual([args, 0]);
      expect(stdout + stderr).not.toMatch(/[^\P{C}\n]/u);
      expect(stdout).not.toMatch(/^key_\\/m);
    }
    expect(JSON.parse((await keys("show", id, "--json")).stdout).name).toBe(hostile);
  });

  it("does not stop the commands for other keys, and a damaged key can be revoked", async () => {
    const hash = "b".repeat(64);
    const id = `key_${"b".repeat(16)}`;
    await put({ hash: { S: hash } });
    const { keyId } = await json("issue", "--name", "Acme");
    expect(await keys("list")).toEqual({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^${keyId}  live .* Acme$`, "m")),
      stderr: expect.stringContaining(`keys: ${damaged(id)}\n`),
    });
    for (const command of ["show", "rotate", "revoke"]) await json(command, keyId);
    for (const command of ["show", "rotate"]) expect(await keys(command, id)).toEqual(failure(damaged(id)));
    expect(await print("revoke", id)).toMatch(new RegExp(`^Revoked ${id}\\.`));
    expect(await print("revoke", id)).toBe(`${id} was already revoked.\n`);
    expect(await json("revoke", id)).toEqual({ keyId: id, state: "revoked" });
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
  for (const format of [[], ["--json"]]) {
    expect(await keys(command, id, ...format)).toEqual(failure(`There is no key ${id} in staging.`));
  }
});

it("changes production with --yes, in its own table", async () => {
  stacks = { "animal-store-production": deployed };
  const production = (...args: string[]) => run([...args, "--stage", "production", "--json"]);
  const { keyId, key } = JSON.parse((await production("issue", "--name", "Acme", "--yes")).stdout);
  expect(key).toMatch(/^ask_production_/);
  for (const command of ["rotate", "revoke"]) {
    expect(await production(command, keyId, "--yes")).toMatchObject({ code: 0, stderr: "" });
  }
});

it.each([
  ["is not deployed", undefined, "The stack animal-store-staging is not deployed in eu-west-1."],
  [
    "has no keys table",
    stackWith(petsTable),
    "The stack animal-store-staging in eu-west-1 is incomplete: it has no keys table.",
  ],
  [
    "cannot be read",
    error("AccessDenied", "not authorized"),
    "AWS refused to describe the stack animal-store-staging: not authorized",
  ],
])("reports a stack that %s", async (_what, body, message) => {
  stacks = body ? { "animal-store-staging": body } : {};
  expect(await keys("list")).toEqual(failure(message));
});

describe("the network", () => {
  const unreachable = (reason: string) =>
    failure(`AWS cannot be reached in eu-west-1 (${reason}): check the network and the region.`);

  const [account, role, start] = ["123456789012", "operator", "https://example.awsapps.com/start"];
  const sso = `[profile sso]\nsso_start_url = ${start}\nsso_region = eu-west-1\nsso_account_id = ${account}\nsso_role_name = ${role}\n`;

  it.each<[string, string, RegExp]>([
    [
      "CloudFormation",
      "CLOUDFORMATION",
      /^keys: AWS cannot be reached in eu-west-1 \((ETIMEDOUT|TimeoutError)\): .*\n$/,
    ],
    ["DynamoDB", "DYNAMODB", /^keys: The keys table cannot be used: .*[tT]imeout.*\n$/],
    ["AWS SSO", "SSO", /^keys: There are no AWS credentials \(.*\n$/],
  ])(
    "does not let a command wait for ever when %s accepts a request and never responds",
    async (_which, name, line) => {
      await using home = await mkdtempDisposable(join(tmpdir(), "animal-store-home-"));
      const cache = join(home.path, ".aws", "sso", "cache");
      await mkdir(cache, { recursive: true });
      await writeFile(join(home.path, ".aws", "config"), sso);
      const token = createHash("sha1").update(start).digest("hex");
      await writeFile(
        join(cache, `${token}.json`),
        JSON.stringify({ accessToken: "x", expiresAt: iso(now + DAY) }),
      );
      let requests = 0;
      const silent = await listen(createServer(() => void requests++));
      // The time limits are right at the first attempt, so they can be much shorter.
      const { setTimeout: wait } = globalThis;
      const shorter = (act: () => void, ms = 0) => wait(act, ms / 20);
      jest.spyOn(globalThis, "setTimeout").mockImplementation(shorter as typeof wait);
      const profile = name === "SSO" ? { HOME: home.path, AWS_PROFILE: "sso" } : credentials;
      const environment = { ...profile, [`AWS_ENDPOINT_URL_${name}`]: silent.origin };
      const { code, stdout, stderr } = await run(["list", "--stage", "staging"], environment).finally(
        silent.close,
      );
      expect([code, stdout, stderr, requests]).toEqual([1, "", expect.stringMatching(line), 2]);
    },
  );

  // Jest's own Error class hides the codes of network errors from the AWS SDK, so this runs as a process.
  it("is reported with the code of its error", async () => {
    const nobody = { AWS_ENDPOINT_URL_CLOUDFORMATION: "http://127.0.0.1:1" };
    expect(await keysCli(["list", "--stage", "staging"], { ...region, ...credentials, ...nobody })).toEqual(
      unreachable("ECONNREFUSED"),
    );
  });

  it("is reported with the name of an error without a code", async () => {
    const timeout = Object.assign(new Error("no response"), { name: "TimeoutError" });
    jest.spyOn(CloudFormationClient.prototype, "send").mockImplementation(() => Promise.reject(timeout));
    expect(await keys("list")).toEqual(unreachable("TimeoutError"));
  });
});

const settings = `aws_access_key_id = ${AWS_ACCESS_KEY_ID}\naws_secret_access_key = test\n`;
it.each([
  ["config", `[profile operator]\n${settings}`, ""],
  ["credentials", "", `[operator]\n${settings}`],
])("reads an AWS profile in the file of the %s", async (_which, config, credentialsText) => {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-profile-"));
  const files = {
    AWS_CONFIG_FILE: join(folder, "config"),
    AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials"),
  };
  await writeFile(files.AWS_CONFIG_FILE, config);
  await writeFile(files.AWS_SHARED_CREDENTIALS_FILE, credentialsText);
  const list = (AWS_PROFILE: string) => run(["list", "--stage", "staging"], { ...files, AWS_PROFILE });
  expect(await list("operator")).toMatchObject({ code: 0, stderr: "" });
  expect(await list("nope")).toEqual(failure("There is no AWS profile nope: check AWS_PROFILE."));
  await rm(folder, { recursive: true });
});

it("runs the process of an AWS profile once, because it can ask the operator for a code", async () => {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-profile-"));
  const made = JSON.stringify({ Version: 1, AccessKeyId: AWS_ACCESS_KEY_ID, SecretAccessKey: "test" });
  const called = `'${join(folder, "called").replaceAll("'", "'\\''")}'`;
  const AWS_CONFIG_FILE = join(folder, "config");
  await writeFile(
    AWS_CONFIG_FILE,
    `[profile operator]\ncredential_process = mkdir ${called} && echo '${made}'\n`,
  );
  const environment = { AWS_CONFIG_FILE, AWS_PROFILE: "operator" };
  expect(await run(["list", "--stage", "staging"], environment)).toMatchObject({ code: 0, stderr: "" });
  await rm(folder, { recursive: true });
});
