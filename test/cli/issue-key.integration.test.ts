import { open } from "node:fs/promises";
import { expect, it } from "@jest/globals";
import { parseDuration } from "../../cli/arguments.ts";
import { GRACE, program } from "../../cli/keys.ts";
import { runProgram } from "../../cli/run-program.ts";
import { stackName } from "../../infra/names.ts";
import { apiKeyStore } from "../../lib/dynamo/api-key-store.ts";
import {
  credentials,
  DAY,
  deployed,
  endpoints,
  fail,
  failure,
  HOUR,
  interrupt,
  iso,
  json,
  keys,
  print,
  region,
  run,
  start,
  statesOf,
  tables,
  world,
} from "../support/deployed-keys.ts";
import { capture } from "../support/run-in-process.ts";

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
    world.stacks = { [stackName(stage)]: deployed };
    const change = (...args: string[]) => run([...args, "--stage", stage, "--json", "--yes"]);
    const { keyId, key } = JSON.parse((await change("issue", "--owner", "Acme")).stdout);
    expect(key).toMatch(new RegExp(`^ask_${stage}_[0-9A-Za-z]{33}$`));
    for (const command of ["rotate", "revoke"])
      expect(await change(command, keyId)).toMatchObject({ code: 0, stderr: "" });
  },
);

it("rotate issues a key with the same owner, scopes and lifetime, ends the old one after the grace period, and does it once", async () => {
  const grace = parseDuration(GRACE);
  const old = await json("issue", "--owner", "Rotated", "--scopes", "pets:read", "--expires-in", "7d");
  world.now += DAY;
  const { keyId, key, ...next } = await json("rotate", old.keyId);
  expect([keyId === old.keyId, key === old.key]).toEqual([false, false]);
  const { owner, scopes } = old;
  const times = { createdAt: iso(world.now), expiresAt: iso(world.now + 7 * DAY), revokeAt: null };
  expect(next).toEqual({ owner, scopes, state: "live", ...times });
  const works = `works until ${iso(world.now + grace)}`;
  expect(await print("show", old.keyId)).toContain(`State        rotating\n`);
  expect(await keys("rotate", old.keyId)).toEqual(
    failure(`The key ${old.keyId} is already rotating and ${works}: use its successor, or issue a new key.`),
  );
  world.now += grace;
  const ended = failure(`The key ${old.keyId} no longer works: issue a new one.`);
  expect(await keys("rotate", old.keyId)).toEqual(ended);
  expect(await statesOf("Rotated")).toEqual(["live", "revoked"]);
});

it("rotate says when the old key ends, which is not later than it would without", async () => {
  const { keyId } = await json("issue", "--owner", "Acme", "--expires-in", "1h");
  const works = `${keyId} works until ${iso(start + HOUR)}.`;
  expect(await print("rotate", keyId, "--grace", "2h")).toMatch(new RegExp(`\n${works}\n$`));
});

it("rotate ends the old key at once and by every clock without a grace period", async () => {
  const { keyId } = await json("issue", "--owner", "Leaked");
  expect(await print("rotate", keyId, "--grace", "0s")).toContain(`Revoked ${keyId}. API Gateway can`);
  world.now -= HOUR;
  expect(await statesOf("Leaked")).toEqual(["live", "revoked"]);
});

// A key that was shown works. An old key ends only after its successor was shown. A key that nobody has seen harms nobody.

const NOT_SHOWN = "The new key (key_\\w{16}) was not shown\\. Revoke it, if `npm run keys -- list` has it";

const refused = (kind: string) => () => interrupt(kind, fail);
const responseLost = (kind: string) => () => interrupt(kind, () => {}, fail);

it.each<[why: string, fails: () => void, left: string[]]>([
  ["the table refuses it", refused("PutItemCommand"), []],
  ["the response of the table is lost", responseLost("PutItemCommand"), ["live"]],
])("shows no new key if %s, and an old key keeps working", async (why, fails, left) => {
  const owner = `Not shown: ${why}`;
  const { keyId } = await json("issue", "--owner", owner);
  fails();
  for (const args of [
    ["issue", "--owner", owner],
    ["rotate", keyId, "--grace", "0s"],
  ])
    expect(await keys(...args)).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(new RegExp(`^keys: ${NOT_SHOWN}: down\n$`)),
    });
  expect(await statesOf(owner)).toEqual(["live", ...left, ...left]);
  expect(await json("show", keyId)).toMatchObject({ state: "live" });
});

it("names a new key that it cannot show, and an old key keeps working", async () => {
  const { keyId } = await json("issue", "--owner", "Unseen");
  await using readOnly = await open(import.meta.filename, "r");
  for (const args of [
    ["issue", "--owner", "Unseen"],
    ["rotate", keyId, "--grace", "0s", "--json"],
  ]) {
    const command = () => runProgram(program, "keys", [...args, "--yes", "--stage", "staging"]);
    const { result, stderr } = await capture(command, { ...endpoints, ...region, ...credentials }, readOnly);
    const [, id = ""] = new RegExp(`^keys: ${NOT_SHOWN}: EBADF: .*\n$`).exec(stderr) ?? [];
    expect([result, (await json("show", id)).state]).toEqual([1, "live"]);
  }
  expect(await json("show", keyId)).toMatchObject({ state: "live" });
});

it("ends no key at once while standard output is a device that loses the successor", async () => {
  const { keyId } = await json("issue", "--owner", "Lost");
  await using nothing = await open("/dev/null", "w");
  const rotate = (grace: string) => () =>
    runProgram(program, "keys", ["rotate", keyId, "--grace", grace, "--yes", "--stage", "staging"]);
  const environment = { ...endpoints, ...region, ...credentials };
  const { result, stderr } = await capture(rotate("0s"), environment, nothing);
  expect({ result, stderr }).toEqual({
    result: 1,
    stderr: expect.stringContaining("nobody would see the key"),
  });
  expect(await statesOf("Lost")).toEqual(["live"]);
  expect(await capture(rotate("1h"), environment, nothing)).toMatchObject({ result: 0 });
});

it.each<[why: string, fails: (old: string) => void, state: string]>([
  ["the table refuses it", refused("UpdateItemCommand"), "live"],
  ["the response of the table is lost", responseLost("UpdateItemCommand"), "rotating"],
  [
    "another command was first",
    (old) =>
      interrupt("PutItemCommand", () => apiKeyStore(tables.apiKeysTable).rotate(old, world.now + HOUR)),
    "rotating",
  ],
])(
  "says that the old key may not end as asked if %s, and its successor works",
  async (owner, fails, state) => {
    const { keyId } = await json("issue", "--owner", owner);
    fails(keyId);
    const { code, stdout, stderr } = await keys("rotate", keyId, "--json");
    const advice = `keys: The new key works. The old key ${keyId} may not end as asked: see \`npm run keys -- show ${keyId}\`: `;
    expect([code, stderr]).toEqual([1, expect.stringContaining(advice)]);
    expect((await json("show", JSON.parse(stdout).keyId)).state).toBe("live");
    expect((await json("show", keyId)).state).toBe(state);
  },
);

it("revoke says how long the gateway can still accept a key, and does nothing twice", async () => {
  const { keyId } = await json("issue", "--owner", "Acme");
  expect(await print("revoke", keyId)).toMatch(
    new RegExp(`^Revoked ${keyId}\\. API Gateway can accept it for up to \\d+ s\\.\n$`),
  );
  world.now += HOUR;
  expect(await print("revoke", keyId)).toBe(`${keyId} was already revoked, on ${iso(start)}.\n`);
  expect(await json("show", keyId)).toMatchObject({ state: "revoked", revokeAt: iso(start) });
  const { keyId: other } = await json("issue", "--owner", "Acme");
  expect(await json("revoke", other)).toMatchObject({
    keyId: other,
    state: "revoked",
    revokeAt: iso(world.now),
  });
});
