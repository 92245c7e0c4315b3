import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { withWrongChecksum } from "../../support/api-keys.ts";
import { type LocalService, startService } from "../../support/local-service.ts";
import { runInProcess } from "../../support/run-in-process.ts";

const DAY = 86_400_000;

const folder = await mkdtemp(join(tmpdir(), "animal-store-keys-"));
process.env.DATA_DIR = folder; // local/store/data-folder.ts reads it once
const { program } = await import("../../../cli/keys-program.ts");

let service: LocalService;

beforeAll(async () => {
  service = await startService({ DATA_DIR: folder });
});

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const keys = (...args: string[]) => runInProcess(program, "keys", [...args, "--stage", "local"]);
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await keys(...args, "--json");
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
};

const call = (path: string, key: string, init: RequestInit = {}) =>
  fetch(service.baseUrl + path, { ...init, headers: { Authorization: `Bearer ${key}`, ...init.headers } });
const list = async (key: string) => (await call("/pets", key)).status;
const get = async (key: string, id: number) => (await call(`/pets/${id}`, key)).status;
const create = (key: string) =>
  call("/pets", key, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: '{"name":"Rex","categoryId":1}',
  });

const until = (end: number) =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, end - Date.now()) + 1));

describe("issue", () => {
  it("shows the key once", async () => {
    const issued = await json("issue", "--name", "Acme 🐕", "--expires", "7d");
    expect(issued).toEqual({
      keyId: expect.stringMatching(/^key_[0-9a-f]{16}$/),
      key: expect.stringMatching(/^ask_local_[0-9A-Za-z]{33}$/),
      name: "Acme 🐕",
      state: "live",
      scopes: ["pets:read", "pets:write"],
      createdAt: expect.any(String),
      expiresAt: new Date(Date.parse(issued.createdAt) + 7 * DAY).toISOString(),
      revokedAt: null,
    });
    expect([await list(issued.key), (await create(issued.key)).status]).toEqual([200, 201]);

    const { key, ...record } = issued;
    expect(await json("show", issued.keyId)).toEqual(record);
    expect((await json("list")).at(-1)).toEqual(record);
    for (const { stdout } of await Promise.all([keys("list"), keys("show", issued.keyId)])) {
      expect(stdout).toContain(issued.keyId);
      expect(stdout).not.toContain(key);
    }
  });

  it("limits a key to its scopes, also when the gateway has cached its policy", async () => {
    const [reader, writer, both] = await Promise.all([
      json("issue", "--name", "Reader", "--scopes", "pets:read"),
      json("issue", "--name", "Writer", "--scopes", "pets:write"),
      json("issue", "--name", "Both", "--scopes", "pets:read", "--scopes", "pets:write"),
    ]);
    // Every key calls every operation twice, in another order, so that each response also comes from the cache.
    for (const round of [1, 2]) {
      const statuses = async (key: string) => [
        (await create(key)).status,
        await list(key),
        await get(key, round),
      ];
      expect(await statuses(reader.key)).toEqual([403, 200, 404]);
      expect((await statuses(writer.key)).toReversed()).toEqual([403, 403, 201]);
      expect(await statuses(both.key)).toEqual([201, 200, 404]);
    }
    expect(await (await call("/pets", writer.key)).json()).toEqual({
      code: "forbidden",
      message: "The API key does not have the scope that this operation needs.",
      status: 403,
    });
  });

  it("allows every key to reach every animal", async () => {
    const [one, other] = await Promise.all([
      json("issue", "--name", "One"),
      json("issue", "--name", "Other"),
    ]);
    const created = await create(one.key);
    const pet = (await created.json()) as { id: number };
    const read = await call(`/pets/${pet.id}`, other.key);
    expect([read.status, await read.json()]).toEqual([200, pet]);
  });
});

describe("rotate", () => {
  it("replaces a key by one with the same name, scopes and lifetime", async () => {
    const old = await json("issue", "--name", "Rotated", "--scopes", "pets:read", "--expires", "7d");
    const next = await json("rotate", old.keyId, "--grace", "1h");
    expect(next).toMatchObject({ name: "Rotated", scopes: ["pets:read"], state: "live" });
    expect(Date.parse(next.expiresAt) - Date.parse(next.createdAt)).toBe(7 * DAY);
    const end = Date.parse(next.createdAt) + 3_600_000;
    expect(await json("show", old.keyId)).toMatchObject({
      state: "rotating",
      expiresAt: old.expiresAt,
      revokedAt: new Date(end).toISOString(),
    });
    expect(await list(next.key)).toBe(200);
  });

  it("ends the old key with the grace period", async () => {
    const old = await json("issue", "--name", "Ended");
    const next = await json("rotate", old.keyId, "--grace", "1s");
    // The old key is not used before its end: a cached policy would let it live longer.
    await until(Date.parse(next.createdAt) + 1000);
    expect([await list(old.key), await list(next.key)]).toEqual([401, 200]);
  });

  it("has a grace period of 24 hours by default, in which both keys work", async () => {
    const old = await json("issue", "--name", "Grace");
    const next = await json("rotate", old.keyId);
    expect([await list(old.key), await list(next.key)]).toEqual([200, 200]);
    const { state, revokedAt } = await json("show", old.keyId);
    expect([state, Date.parse(revokedAt) - Date.parse(next.createdAt)]).toEqual(["rotating", DAY]);
  });

  it("lets an old key be revoked before its grace period ends", async () => {
    const old = await json("issue", "--name", "Leaked");
    await json("rotate", old.keyId);
    expect((await json("revoke", old.keyId)).state).toBe("revoked");
    expect(await list(old.key)).toBe(401);
  });
});

describe("revoke", () => {
  it("ends a key, unless the gateway has cached its policy", async () => {
    const [unused, used] = await Promise.all([
      json("issue", "--name", "Unused"),
      json("issue", "--name", "Used"),
    ]);
    expect(await list(used.key)).toBe(200);
    expect(await json("revoke", unused.keyId)).toMatchObject({ state: "revoked" });
    const { stdout } = await keys("revoke", used.keyId);
    expect(stdout).toBe(
      `Revoked ${used.keyId}. The gateway caches valid keys: it can keep working for 60 s.\n`,
    );
    expect([await list(unused.key), await list(used.key)]).toEqual([401, 200]);
    const { revokedAt } = await json("show", used.keyId);
    expect((await keys("revoke", used.keyId)).stdout).toBe(
      `${used.keyId} was already revoked, on ${revokedAt}.\n`,
    );
  });
});

it("leads to the same 401 for every kind of invalid key, byte for byte", async () => {
  const [expired, revoked] = await Promise.all([
    json("issue", "--name", "Expired", "--expires", "1s"),
    json("issue", "--name", "Revoked"),
  ]);
  await json("revoke", revoked.keyId);
  await until(Date.parse(expired.expiresAt));
  const badChecksum = withWrongChecksum(revoked.key);
  const unknown = "ask_local_0000000000000000000000000001zjBqf";
  const otherStage = "ask_staging_flTgTBAiM6KCaH9rvdBWwVPlPS60EMOxt";
  const invalid = [expired.key, revoked.key, badChecksum, unknown, otherStage, "malformed", ""];
  const responses = await Promise.all(
    invalid.map(async (key) => {
      const response = await call("/pets", key);
      // What differs from response to response: the time and the request's own id.
      const { date, "x-amzn-requestid": _id, ...headers } = Object.fromEntries(response.headers);
      return JSON.stringify([response.status, headers, await response.text()]);
    }),
  );
  expect(new Set(responses).size).toBe(1);
  expect(responses[0]).toContain("[401,");
});
