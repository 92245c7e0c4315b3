import { mkdtempDisposable, open, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { parseDuration } from "../../cli/arguments.ts";
import { GRACE, program } from "../../cli/keys.ts";
import { LIMITS } from "../../cli/limits.ts";
import { runProgram } from "../../cli/run-program.ts";
import { accountStackName, pascalCase, stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import { generateApiKey, hashApiKey } from "../../lib/api-key.ts";
import { apiKeyStore, MAX_PAGES } from "../../lib/dynamo/api-key-store.ts";
import { keysCli } from "../support/keys-cli.ts";
import { listen } from "../support/listen.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { arnOf, readResources } from "../support/resources.ts";
import { capture, runInProcess } from "../support/run-in-process.ts";
import { jobOf } from "../support/workflows.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = Date.parse("2026-11-21T12:00:00Z");
const iso = (at: number) => new Date(at).toISOString();

const other = await createOwnTables();
const tables = await createOwnTables();

const output = (key: string, value: string) =>
  `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`;
const stackWith = (outputs: string) =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${outputs}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
const deployed = stackWith(output("PetsTableName", tables.pets) + output("ApiKeysTableName", tables.keys));
const error = (code: string, message: string) =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

/** The calls of CloudFormation. */
const described: string[] = [];
/** What CloudFormation returns for a stack. AWS: "DescribeStacks", examples, and "Common errors". */
let stacks: Record<string, string>;
const cloudFormation = await listen(
  createServer(async (request, response) => {
    const { StackName: name = "", Action } = Object.fromEntries(new URLSearchParams(await text(request)));
    described.push(`cloudformation:${Action}`);
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
const keys = (...args: string[]) =>
  run([...args, ...(/^(list|show)$/.test(args[0] ?? "") ? [] : ["--yes"]), "--stage", "staging"]);
const print = async (...args: string[]) => {
  const { code, stdout, stderr } = await keys(...args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
};
const json = async (...args: string[]) => JSON.parse(await print(...args, "--json"));
const failure = (message: string) => ({ code: 1, stdout: "", stderr: `keys: ${message}\n` });
/** The states of the keys of an owner. */
const statesOf = async (owner: string) => {
  const listed: { owner: string; state: string }[] = await json("list");
  return listed.flatMap((key) => (key.owner === owner ? key.state : [])).sort();
};

let now: number;
beforeEach(() => {
  stacks = { [stackName("staging")]: deployed };
  now = start;
  jest.spyOn(Date, "now").mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(cloudFormation.close);

it("issue prints the key and its record, and by default a key has both scopes and never expires", async () => {
  expect(await print("issue", "--owner", "Acme 🐕", "--expires-in", "7d", "--scopes", "pets:read")).toMatch(
    /^Key ID {7}key_[0-9a-f]{16}\nOwner {8}Acme 🐕\n(.*\n){3}Expires {6}2026-11-28T12:00:00.000Z\nAPI key {6}ask_staging_[0-9A-Za-z]{33}\n\nSave the API key now: it is not shown again.\n$/,
  );
  const { key, ...record } = await json("issue", "--owner", "Acme");
  expect(key).toMatch(/^ask_staging_[0-9A-Za-z]{33}$/);
  expect(record).toMatchObject({ owner: "Acme", scopes: ["pets:read", "pets:write"], expiresAt: null });
  expect(await json("show", record.keyId)).toEqual(record);
  expect(await json("list")).toContainEqual(record);
});

it.each(["production", "anna"])(
  "changes %s with --yes, in its own table, with keys that name it",
  async (stage) => {
    stacks = { [stackName(stage)]: deployed };
    const change = (...args: string[]) => run([...args, "--stage", stage, "--json", "--yes"]);
    const { keyId, key } = JSON.parse((await change("issue", "--owner", "Acme")).stdout);
    expect(key).toMatch(new RegExp(`^ask_${stage}_[0-9A-Za-z]{33}$`));
    for (const command of ["rotate", "revoke"])
      expect(await change(command, keyId)).toMatchObject({ code: 0, stderr: "" });
  },
);

it.each(deployedStages)(
  "the job of $name in the workflow makes exactly the calls that its role allows",
  async ({ name }) => {
    stacks = { [stackName(name)]: deployed };
    const send = jest.spyOn(DynamoDBClient.prototype, "send");
    const scripts = jobOf(name).steps.map(({ run = "" }) => run);
    let keyId = "";
    for (const [, args = ""] of scripts.join("\n").matchAll(/npm run -s keys -- ([^|\n]+)/g)) {
      const filled = args.replaceAll('"', "").replace("$STAGE", name).replace("$KEY_ID", keyId);
      const { code, stdout, stderr } = await run(filled.trim().split(" "));
      expect([code, stderr]).toEqual([0, ""]);
      keyId ||= JSON.parse(stdout).keyId;
    }
    const sent = send.mock.calls.map(
      ([command]) => `dynamodb:${command.constructor.name.replace("Command", "")}`,
    );
    const account = readResources(process.env.TEST_ACCOUNT_ASSEMBLY, accountStackName);
    const arn = account.output(`${pascalCase(name)}DeployRoleArn`);
    const [role] = account.find("IAM::Role").filter(({ id }) => arnOf(id) === arn);
    const allowed = account.statementsOf(role?.id).flatMap(({ Action }) => Action);
    expect(allowed.sort()).toEqual([...new Set(["sts:AssumeRole", ...described, ...sent])].sort());
  },
);

it("list prints the oldest key first, keys of the same age by ID, and says that there are none", async () => {
  for (now of [start + 1, start, start, start, start - 1]) await json("issue", "--owner", "Ordered");
  const listed: { createdAt: string; keyId: string }[] = await json("list");
  const order = listed.map(({ createdAt, keyId }) => `${createdAt} ${keyId}`);
  expect(order).toEqual(order.toSorted());
  stacks[stackName("staging")] = stackWith(output("ApiKeysTableName", tables.claims)); // which is empty
  expect([await print("list"), await json("list")]).toEqual(["There are no keys in staging.\n", []]);
});

it("rotate issues a key with the same owner, scopes and lifetime, ends the old one after the grace period, and does it once", async () => {
  const grace = parseDuration(GRACE);
  const old = await json("issue", "--owner", "Rotated", "--scopes", "pets:read", "--expires-in", "7d");
  now += DAY;
  const { keyId, key, ...next } = await json("rotate", old.keyId);
  expect([keyId === old.keyId, key === old.key]).toEqual([false, false]);
  const { owner, scopes } = old;
  const times = { createdAt: iso(now), expiresAt: iso(now + 7 * DAY), revokeAt: null };
  expect(next).toEqual({ owner, scopes, state: "live", ...times });
  const works = `works until ${iso(now + grace)}`;
  expect(await print("show", old.keyId)).toContain(`State        rotating\n`);
  expect(await keys("rotate", old.keyId)).toEqual(
    failure(`The key ${old.keyId} is already rotating and ${works}: use its successor, or issue a new key.`),
  );
  now += grace;
  const ended = failure(`The key ${old.keyId} no longer works: issue a new one.`);
  expect(await keys("rotate", old.keyId)).toEqual(ended);
  expect(await statesOf("Rotated")).toEqual(["live", "revoked"]);
});

it("rotate says when the old key ends, which is not later than it would without", async () => {
  const { keyId } = await json("issue", "--owner", "Acme", "--expires-in", "1h");
  const works = `${keyId} works until ${iso(start + HOUR)}.`;
  expect(await print("rotate", keyId, "--grace", "2h")).toMatch(new RegExp(`\n${works}\n$`));
});

/** Does something before, or after, each command of these kinds that a program sends to the table. */
function interrupt(kinds: string, before: () => unknown, after = () => {}): void {
  const target = DynamoDBClient.prototype as unknown as { send: (...args: object[]) => Promise<unknown> };
  const { send } = target;
  jest.spyOn(target, "send").mockImplementation(async function (this: unknown, ...args) {
    const matches = kinds.split(" ").includes(args[0]?.constructor.name ?? "");
    if (matches) await before();
    const output = await send.apply(this, args);
    if (matches) after();
    return output;
  });
}

const fail = () => {
  throw new Error("down");
};

it("rotate revokes the successor, which it has shown, if another command was first", async () => {
  const { keyId, key } = await json("issue", "--owner", "Second");
  interrupt("PutItemCommand", () =>
    apiKeyStore(tables.keys).rotate(hashApiKey(key), "key_other", now + DAY, now),
  );
  const { code, stdout, stderr } = await keys("rotate", keyId, "--json");
  const lost = `The key ${keyId} expired, or another command rotated or revoked it at the same time`;
  const message = `keys: ${lost}, and the new key ${JSON.parse(stdout).keyId} was revoked\n`;
  expect([code, stderr]).toEqual([1, message]);
  expect(await statesOf("Second")).toEqual(["revoked", "rotating"]);
});

it.each([
  ["add the successor", "PutItemCommand", "", ["live"]],
  // Perhaps only the response was lost. Then nobody would have a key that works, if the successor was revoked.
  ["end the old key", "UpdateItemCommand", "The new key works.", ["live", "live"]],
])("rotate leaves no owner without a key if it cannot %s", async (_what, kind, advice, states) => {
  const { keyId } = await json("issue", "--owner", kind);
  interrupt(kind, jest.fn(() => undefined).mockImplementationOnce(fail));
  const { code, stderr } = await keys("rotate", keyId);
  expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^keys: ${advice}.*down\n$`))]);
  expect(await statesOf(kind)).toEqual(states);
});

describe("a key that cannot be shown", () => {
  /** Runs a command whose standard output is a file that was opened in this mode. */
  const runInto = async (file: string, flags: string, ...args: string[]) => {
    await using target = await open(file, flags);
    const command = () => runProgram(program, "keys", [...args, "--yes", "--stage", "staging"]);
    return await capture(command, { ...endpoints, ...region, ...credentials }, target);
  };

  it.each([
    ["is revoked", import.meta.filename, "r", ["live", "revoked", "revoked"], / was revoked: EBADF: .*\n$/],
    // Node opens /dev/null in place of a standard output that is closed.
    ["is not issued", "/dev/null", "w", ["live"], /^keys: No key was issued: .*\n$/],
  ])("%s, and an old one keeps working: %s", async (owner, file, flags, states, message) => {
    const { keyId } = await json("issue", "--owner", owner);
    const commands = [
      ["issue", "--owner", owner],
      ["rotate", keyId, "--grace", "0s", "--json"],
    ];
    const failed = { result: 1, stderr: expect.stringMatching(message) };
    for (const args of commands) expect(await runInto(file, flags, ...args)).toMatchObject(failed);
    expect(await statesOf(owner)).toEqual(states);
    expect(await json("show", keyId)).toMatchObject({ state: "live" });
  });

  it.each(["UpdateItemCommand", "UpdateItemCommand GetItemCommand"])(
    "is named if %s fails too",
    async (failing) => {
      interrupt(failing, fail);
      const { stderr } = await runInto(import.meta.filename, "r", "issue", "--owner", "Lost");
      expect(stderr).toMatch(/ the new key key_\w+ can still work: revoke it: EBADF: /);
    },
  );
});

it.each<[when: string, before: () => unknown, after: () => unknown, end: string]>([
  ["the table refuses it", fail, () => {}, "was not stored: down"],
  ["the response to it is lost", () => {}, fail, "was revoked: down"],
  ["Ctrl-C interrupts it", () => process.emit("SIGINT"), () => {}, "was revoked: Interrupted."],
])("issue leaves no key that works, and names the key ID, if %s", async (owner, before, after, end) => {
  interrupt("PutItemCommand", before, after);
  const { code, stdout, stderr } = await keys("issue", "--owner", owner);
  const message = new RegExp(`^keys: Issuing failed, and the new key key_\\w{16} ${end}\n$`);
  expect([code, stdout, stderr]).toEqual([1, "", expect.stringMatching(message)]);
  expect(await statesOf(owner)).toEqual(end.startsWith("was revoked") ? ["revoked"] : []);
  expect(process.listenerCount("SIGINT")).toBe(0);
});

describe("a table that others have changed", () => {
  const client = new DynamoDBClient({});
  afterAll(() => client.destroy());

  /** Stores a record in an empty table, which the stack then has. */
  async function put(hash: string, owner: string, scope = "pets:read") {
    const Item = { hash: { S: hash }, owner: { S: owner }, scopes: { SS: [scope] }, createdAt: { N: "1" } };
    await client.send(new PutItemCommand({ TableName: other.keys, Item }));
    stacks[stackName("staging")] = stackWith(output("ApiKeysTableName", other.keys));
  }

  it("does not reach the terminal as control characters", async () => {
    // Set the title, colours in 7 and 8 bits, the direction of text, a row of its own, and no character at all.
    const hostile = "\u001b]0;x\u0007\u001b[31m\u009b31m\u202e\u2066\nkey_\u007f\udc00\u{e0001}";
    await put("a".repeat(64), hostile);
    await put("c".repeat(64), "x", hostile);
    await put(hostile, "x");
    const id = `key_${"a".repeat(16)}`;
    for (const args of [["list"], ["list", "--json"], ["show", id], ["show", id, "--json"], ["rotate", id]]) {
      const { code, stdout, stderr } = await keys(...args);
      expect([args, code]).toEqual([args, 0]);
      expect(stdout + stderr).not.toMatch(/[^\P{C}\n]/u);
    }
    expect((await json("show", id)).owner).toBe(hostile);
  });

  it("does not hide a damaged record: it is named, and revoked under this name", async () => {
    await put("zzz", "Acme"); // not a hash in hexadecimal
    const { keyId } = await json("issue", "--owner", "Acme");
    const { code, stdout, stderr } = await keys("list");
    expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^${keyId}  live .* Acme$`, "m"))]);
    const id = `key_${hashApiKey("zzz").slice(0, 16)}`;
    const damaged = `The record of the key ${id} is damaged, so the key does not work: revoke it.`;
    expect(stderr).toContain(`keys: ${damaged}\n`);
    for (const command of ["show", "rotate"]) expect(await keys(command, id)).toEqual(failure(damaged));
    expect(await print("revoke", id)).toMatch(new RegExp(`^Revoked ${id}\\.`));
    expect(await print("revoke", id)).toBe(`${id} was already revoked.\n`);
  });
});

it("revoke says how long the gateway can still accept a key, and does nothing twice", async () => {
  const { keyId } = await json("issue", "--owner", "Acme");
  expect(await print("revoke", keyId)).toMatch(
    new RegExp(`^Revoked ${keyId}\\. The gateway caches valid keys: it can keep working for \\d+ s\\.\n$`),
  );
  now += HOUR;
  expect(await print("revoke", keyId)).toBe(`${keyId} was already revoked, on ${iso(start)}.\n`);
  expect(await json("show", keyId)).toMatchObject({ state: "revoked", revokeAt: iso(start) });
});

it.each(["show", "rotate", "revoke"])("%s reports a key that does not exist", async (command) => {
  const id = "key_0000000000000000";
  expect(await keys(command, id, "--json")).toEqual(failure(`There is no key ${id} in staging.`));
});

it.each([
  [undefined, `The stack ${stackName("staging")} is not deployed in eu-west-1.`],
  [stackWith(""), `The stack ${stackName("staging")} in eu-west-1 is incomplete: it has no keys table.`],
  [error("AccessDenied", "no"), `AWS refused to describe the stack ${stackName("staging")}: no`],
])("reports a stack that it cannot use: %#", async (body, message) => {
  stacks = body ? { [stackName("staging")]: body } : {};
  expect(await keys("list")).toEqual(failure(message));
});

it.each([
  [
    "CLOUDFORMATION",
    /^keys: AWS cannot be reached in eu-west-1 \(.+\): check the network and the region\.\n$/,
  ],
  ["DYNAMODB", /^keys: The keys table cannot be used: .+\n$/],
])("gives up when %s sends no response, or only its start", async (name, message) => {
  const requestHandler = { ...LIMITS.requestHandler, requestTimeout: 300, socketTimeout: 300 };
  jest.replaceProperty(LIMITS, "requestHandler", requestHandler);
  for (const respond of [() => {}, (response: ServerResponse) => response.writeHead(200).write(" ")]) {
    const received = jest.fn((_request: IncomingMessage, response: ServerResponse) => void respond(response));
    const silent = await listen(createServer(received));
    const environment = { ...credentials, [`AWS_ENDPOINT_URL_${name}`]: silent.origin };
    const result = await run(["list", "--stage", "staging"], environment).finally(silent.close);
    expect(result).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(message) });
    expect(received).toHaveBeenCalledTimes(LIMITS.maxAttempts);
  }
});

it("gives up after so many pages, because a server that is not DynamoDB can return them for ever", async () => {
  const page = async () => ({ Items: [], LastEvaluatedKey: {} });
  jest.spyOn(DynamoDBClient.prototype, "send").mockImplementation(page);
  expect(await keys("list")).toEqual(
    failure(`The keys table cannot be used: it has more than ${MAX_PAGES} pages`),
  );
});

// Jest's own Error class hides the codes of network errors from the AWS SDK, so this runs as a process.
it("reports the code of a network error", async () => {
  const nobody = { AWS_ENDPOINT_URL_CLOUDFORMATION: "http://127.0.0.1:1" };
  expect(await keysCli(["list", "--stage", "staging"], { ...region, ...credentials, ...nobody })).toEqual(
    failure("AWS cannot be reached in eu-west-1 (ECONNREFUSED): check the network and the region."),
  );
});

it("reads AWS profiles, and runs the process of one once, because it can ask for a code", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-profile-"));
  const AWS_CONFIG_FILE = join(folder.path, "config");
  const made = JSON.stringify({ Version: 1, AccessKeyId: AWS_ACCESS_KEY_ID, SecretAccessKey: "test" });
  const called = `'${join(folder.path, "called").replaceAll("'", "'\\''")}'`;
  const config = `[profile asks]\nregion = eu-west-1\ncredential_process = mkdir ${called} && echo '${made}'\n`;
  await writeFile(AWS_CONFIG_FILE, config);
  const environment = { ...endpoints, AWS_CONFIG_FILE, AWS_PROFILE: "asks" };
  const args = ["list", "--stage", "staging"];
  expect(await runInProcess(program, "keys", args, environment)).toMatchObject({ code: 0, stderr: "" });
});

/** Runs a command without any setting for AWS. */
const bare = (args: string[], environment?: Record<string, string>) =>
  runInProcess(program, "keys", args, environment);

it.each([
  [["issue", "--stage", "local"], "required option '--owner <owner>' not specified"],
  [["issue", "--stage", "local", "--expires-in", "0d"], "Use a duration longer than zero."],
  [["list", "--stage", "local", "--yes"], "unknown option '--yes'"],
  [["list"], "required option '--stage <stage>' not specified"],
  [["list", "--stage", "Anna"], "A personal stage needs a name of"],
])("explains wrong usage with exit code 2: %j", async (args, message) => {
  expect(await bare(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});

const key = generateApiKey("local");

it.each([
  [["show", key]],
  [["revoke", `Bearer ${key}`]],
  [["revoke", key.slice(0, -3)]],
  [["issue", "--owner", key]],
  [["issue", "--owner", "x", "--scopes", key]],
  [["list", `--${key}`]],
  [["list", key]],
  [[key]],
  [["list", "--stage", key]],
])("never repeats an API key that was typed in the wrong place: %#", async (args) => {
  const { code, stdout, stderr } = await bare([...args, "--stage", "local"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).not.toContain(key.slice(10, 30));
});

const list = ["list", "--stage", "staging"];
const id = "key_0000000000000000";
const asked = deployedStages.filter(({ confirmKeyChanges }) => confirmKeyChanges);

it.each<[string, string[], Record<string, string>]>([
  ["No AWS region is set: set AWS_REGION, or a region in your AWS profile.", list, {}],
  [
    "There are no AWS credentials (Could not load credentials from any providers): sign in (for example `aws sso login`), or check AWS_PROFILE.",
    list,
    { AWS_REGION: "eu-west-1", AWS_PROFILE: "nope" },
  ],
  ...asked.flatMap(({ name }): [string, string[], Record<string, string>][] => {
    const [stage, confirmation] = [
      ["--stage", name],
      `in ${name}? Add --yes to confirm it without a terminal.`,
    ];
    return [
      [`Issue a key for Acme ${confirmation}`, ["issue", "--owner", "Acme", ...stage], {}],
      [`Revoke ${id} ${confirmation}`, ["revoke", id, ...stage], {}],
      [`Rotate ${id} ${confirmation}`, ["rotate", id, ...stage], {}],
    ];
  }),
])("without a network, says: %s", async (message, args, environment) => {
  expect(await bare(args, environment)).toEqual({ code: 1, stdout: "", stderr: `keys: ${message}\n` });
});
