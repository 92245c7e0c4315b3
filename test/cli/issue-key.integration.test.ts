import { open } from "node:fs/promises";
import { describe, expect, it, jest } from "@jest/globals";
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

it("rotate revokes the successor, which it has shown, if another command was first", async () => {
  const { keyId } = await json("issue", "--owner", "Second");
  interrupt("PutItemCommand", () => apiKeyStore(tables.apiKeysTable).rotate(keyId, world.now + HOUR));
  const { code, stdout, stderr } = await keys("rotate", keyId, "--json");
  const lost = `Another command rotated or revoked the key ${keyId} at the same time`;
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
  [
    "the table has not done it yet",
    fail,
    () => {},
    "may still appear: look it up with `npm run keys -- list` .*: down",
  ],
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

it("a second Ctrl-C cannot end issue before the new key is revoked", async () => {
  const handlers: number[] = [];
  const count = () => handlers.push(process.listenerCount("SIGINT"));
  interrupt("PutItemCommand UpdateItemCommand", () => process.emit("SIGINT"), count);
  expect((await keys("issue", "--owner", "Twice")).code).toBe(1);
  expect(handlers).toEqual([1, 1]);
  expect(await statesOf("Twice")).toEqual(["revoked"]);
});

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
