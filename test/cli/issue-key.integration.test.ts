import { open } from "node:fs/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterEach, expect, it, jest } from "@jest/globals";
import { parseDuration } from "../../cli/arguments.ts";
import { GRACE } from "../../cli/keys.ts";
import { apiKeyStore } from "../../lib/dynamo/api-key-store.ts";
import { HOUR, openDeployment, START } from "../support/deployed-keys.ts";
import { failure } from "../support/run-here.ts";

const DAY = 24 * HOUR;
const iso = (at: number) => new Date(at).toISOString();
afterEach(() => void jest.restoreAllMocks());

it("issues a key that by default has both scopes and never expires, and prints its record", async () => {
  await using aws = await openDeployment();
  expect(
    await aws.print("issue", "--owner", "Acme 🐕", "--expires-in", "7d", "--scopes", "pets:read"),
  ).toMatch(
    /^Key ID {7}key_[0-9a-f]{16}\nOwner {8}Acme 🐕\n(.*\n){3}Expires {6}2026-11-28T12:00:00.000Z\nAPI key {6}ask_staging_[0-9A-Za-z]{33}\n\nSave the API key now: it is not shown again.\n$/,
  );
  const { key, ...record } = await aws.json("issue", "--owner", "Acme");
  expect(key).toMatch(/^ask_staging_[0-9A-Za-z]{33}$/);
  expect(record).toMatchObject({ owner: "Acme", scopes: ["pets:read", "pets:write"], expiresAt: null });
  expect(await aws.json("show", record.keyId)).toEqual(record);
  expect(await aws.json("list")).toContainEqual(record);
});

it.each(["production", "anna"])(
  "changes %s with --yes, in its own table, with keys that name it",
  async (stage) => {
    await using aws = await openDeployment(stage);
    const { keyId, key } = await aws.json("issue", "--owner", "Acme");
    expect(key).toMatch(new RegExp(`^ask_${stage}_[0-9A-Za-z]{33}$`));
    for (const command of ["rotate", "revoke"]) await aws.print(command, keyId);
  },
);

it("rotates a key to one with the same owner, scopes and lifetime, which works at once", async () => {
  await using aws = await openDeployment();
  const old = await aws.json("issue", "--owner", "Acme", "--scopes", "pets:read", "--expires-in", "7d");
  const now = START + DAY;
  aws.setTime(now);
  const { keyId, key, ...next } = await aws.json("rotate", old.keyId);
  expect(keyId).not.toBe(old.keyId);
  expect(key).not.toBe(old.key);
  const { owner, scopes } = old;
  const times = { createdAt: iso(now), expiresAt: iso(now + 7 * DAY), revokeAt: null };
  expect(next).toEqual({ owner, scopes, state: "live", ...times });
});

it("ends a rotated key after the grace period, and rotates it only once", async () => {
  await using aws = await openDeployment();
  const { keyId } = await aws.json("issue", "--owner", "Acme");
  await aws.print("rotate", keyId);
  const end = START + parseDuration(GRACE);
  expect(await aws.print("show", keyId)).toContain(`State        rotating\n`);
  const again = `The key ${keyId} is already rotating and works until ${iso(end)}: use its successor, or issue a new key.`;
  expect(await aws.keys("rotate", keyId)).toEqual(failure(again));
  aws.setTime(end);
  const ended = failure(`The key ${keyId} no longer works: issue a new one.`);
  expect(await aws.keys("rotate", keyId)).toEqual(ended);
  expect(await aws.states()).toEqual(["live", "revoked"]);
});

it("rotate says when the old key ends, which is not later than it would without", async () => {
  await using aws = await openDeployment();
  const { keyId } = await aws.json("issue", "--owner", "Acme", "--expires-in", "1h");
  const works = `${keyId} works until ${iso(START + HOUR)}.`;
  expect(await aws.print("rotate", keyId, "--grace", "2h")).toMatch(new RegExp(`\n${works}\n$`));
});

it("rotate ends the old key at once and by every clock without a grace period", async () => {
  await using aws = await openDeployment();
  const { keyId } = await aws.json("issue", "--owner", "Acme");
  expect(await aws.print("rotate", keyId, "--grace", "0s")).toContain(`Revoked ${keyId}. API Gateway can`);
  aws.setTime(START - HOUR);
  expect(await aws.states()).toEqual(["live", "revoked"]);
});

// A key that was shown works. An old key ends only after its successor was shown. A key that nobody has seen harms nobody.

const NOT_SHOWN = "The new key (key_\\w{16}) was not shown\\. Revoke it, if `npm run keys -- list` has it";

/** Does something before, or after, each command of a kind that a program sends to the table. */
function interrupt(kind: string, before: () => unknown, after: () => unknown = () => {}): void {
  const target = DynamoDBClient.prototype as unknown as { send: (...args: object[]) => Promise<unknown> };
  const { send } = target;
  jest.spyOn(target, "send").mockImplementation(async function (this: unknown, ...args) {
    const matches = args[0]?.constructor.name === kind;
    if (matches) await before();
    const output = await send.apply(this, args);
    if (matches) await after();
    return output;
  });
}
const fail = () => Promise.reject(new Error("down"));
const refused = (kind: string) => () => interrupt(kind, fail);
const responseLost = (kind: string) => () => interrupt(kind, () => {}, fail);

it.each<[why: string, fails: () => void, left: string[]]>([
  ["the table refuses it", refused("PutItemCommand"), []],
  ["the response of the table is lost", responseLost("PutItemCommand"), ["live"]],
])("shows no new key if %s, and an old key keeps working", async (_why, fails, left) => {
  await using aws = await openDeployment();
  const { keyId } = await aws.json("issue", "--owner", "Acme");
  fails();
  for (const args of [
    ["issue", "--owner", "Acme"],
    ["rotate", keyId, "--grace", "0s"],
  ])
    expect(await aws.keys(...args)).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(new RegExp(`^keys: ${NOT_SHOWN}: down\n$`)),
    });
  expect(await aws.states()).toEqual(["live", ...left, ...left]);
  expect(await aws.json("show", keyId)).toMatchObject({ state: "live" });
});

it("names a new key that it cannot show, and an old key keeps working", async () => {
  await using aws = await openDeployment();
  const { keyId } = await aws.json("issue", "--owner", "Acme");
  await using readOnly = await open(import.meta.filename, "r");
  for (const args of [
    ["issue", "--owner", "Acme"],
    ["rotate", keyId, "--grace", "0s", "--json"],
  ]) {
    const { code, stderr } = await aws.run([...args, "--yes", "--stage", "staging"], aws.operator, readOnly);
    const [, id = ""] = new RegExp(`^keys: ${NOT_SHOWN}: EBADF: .*\n$`).exec(stderr) ?? [];
    expect({ code, ...(await aws.json("show", id)) }).toMatchObject({ code: 1, state: "live" });
  }
  expect(await aws.json("show", keyId)).toMatchObject({ state: "live" });
});

it("ends no key at once while standard output is a device that loses the successor", async () => {
  await using aws = await openDeployment();
  const { keyId } = await aws.json("issue", "--owner", "Acme");
  await using nothing = await open("/dev/null", "w");
  const rotate = (grace: string) =>
    aws.run(["rotate", keyId, "--grace", grace, "--yes", "--stage", "staging"], aws.operator, nothing);
  const stderr = expect.stringContaining("nobody would see the key");
  expect(await rotate("0s")).toMatchObject({ code: 1, stderr });
  expect(await aws.states()).toEqual(["live"]);
  expect(await rotate("1h")).toMatchObject({ code: 0 });
});

it.each<[why: string, fails: (old: string, table: string) => void, state: string]>([
  ["the table refuses it", refused("UpdateItemCommand"), "live"],
  ["the response of the table is lost", responseLost("UpdateItemCommand"), "rotating"],
  [
    "another command was first",
    (old, table) => interrupt("PutItemCommand", () => apiKeyStore(table).rotate(old, START + HOUR)),
    "rotating",
  ],
])("says that an old key may not end as asked if %s, and its successor works", async (_why, fails, state) => {
  await using aws = await openDeployment();
  const { keyId } = await aws.json("issue", "--owner", "Acme");
  fails(keyId, aws.tables.apiKeysTable);
  const rotated = await aws.keys("rotate", keyId, "--json");
  const advice = `keys: The new key works. The old key ${keyId} may not end as asked: see \`npm run keys -- show ${keyId}\`: `;
  expect(rotated).toMatchObject({ code: 1, stderr: expect.stringContaining(advice) });
  expect((await aws.json("show", JSON.parse(rotated.stdout).keyId)).state).toBe("live");
  expect((await aws.json("show", keyId)).state).toBe(state);
});

it("revoke says how long the gateway can still accept a key, and does nothing twice", async () => {
  await using aws = await openDeployment();
  const { keyId } = await aws.json("issue", "--owner", "Acme");
  expect(await aws.print("revoke", keyId)).toMatch(
    new RegExp(`^Revoked ${keyId}\\. API Gateway can accept it for up to \\d+ s\\.\n$`),
  );
  aws.setTime(START + HOUR);
  expect(await aws.print("revoke", keyId)).toBe(`${keyId} was already revoked, on ${iso(START)}.\n`);
  expect(await aws.json("show", keyId)).toMatchObject({ state: "revoked", revokeAt: iso(START) });
  const { keyId: other } = await aws.json("issue", "--owner", "Acme");
  const revoked = { keyId: other, state: "revoked", revokeAt: iso(START + HOUR) };
  expect(await aws.json("revoke", other)).toMatchObject(revoked);
});
