import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { keysCli, type Run } from "../support/keys-cli.ts";
import { type LocalService, startService } from "../support/local-service.ts";

const WEEK = 7 * 86_400_000;

let folder: string;
let service: LocalService;
const secrets: string[] = [];

const keys = (...args: string[]) => keysCli([...args, "--stage", "local"], { DATA_DIR: folder });

/** Runs a command that must succeed; returns its JSON. */
// biome-ignore lint/suspicious/noExplicitAny: what a command prints
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await keys(...args, "--json");
  expect([code, stderr]).toEqual([0, ""]);
  const value = JSON.parse(stdout);
  if (value.key) secrets.push(value.key);
  return value;
}

const call = (path: string, key: string, init: RequestInit = {}) =>
  fetch(service.baseUrl + path, { ...init, headers: { Authorization: `Bearer ${key}`, ...init.headers } });
const list = async (key: string) => (await call("/pets", key)).status;
const create = async (key: string) => {
  const body = '{"name":"Rex","categoryId":1}';
  return (await call("/pets", key, { method: "POST", headers: { "Content-Type": "application/json" }, body }))
    .status;
};

async function eventually(check: () => Promise<boolean>, seconds: number): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await check())) {
    if (Date.now() > end) throw new Error("It did not happen in time.");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-keys-"));
  service = await startService({ DATA_DIR: folder });
});

afterAll(async () => {
  await service.stop("SIGKILL");
  await rm(folder, { recursive: true });
});

describe("an operator", () => {
  it("issues a key that is shown once, and never again", async () => {
    const issued = await json("issue", "--name", "Acme 🐕", "--expires", "7d");
    expect(issued).toEqual({
      keyId: expect.stringMatching(/^key_[0-9a-f]{16}$/),
      key: expect.stringMatching(/^ask_local_[0-9A-Za-z]{33}$/),
      name: "Acme 🐕",
      scopes: ["pets:read", "pets:write"],
      createdAt: expect.any(String),
      expiresAt: new Date(Date.parse(issued.createdAt) + WEEK).toISOString(),
      revokedAt: null,
    });
    expect(await Promise.all([list(issued.key), create(issued.key)])).toEqual([200, 201]);

    const { key, ...record } = issued;
    expect(await json("show", issued.keyId)).toEqual(record);
    expect((await json("list")).at(-1)).toEqual(record);
    for (const { stdout } of await Promise.all([keys("list"), keys("show", issued.keyId)])) {
      expect(stdout).toContain(issued.keyId);
      expect(stdout).not.toContain(key);
    }
  });

  it("is told in words that the key cannot be shown again", async () => {
    const { code, stdout } = await keys("issue", "--name", "Words", "--scopes", "pets:read");
    secrets.push(/ask_local_\w+/.exec(stdout)?.[0] ?? "");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^API key {2}ask_local_\w{33}$/m);
    expect(stdout).toContain("Keep the API key now: it cannot be shown again.");
  });

  it("gives a key one scope, which then holds for every method under one cached policy", async () => {
    const [reader, writer] = await Promise.all([
      json("issue", "--name", "Reader", "--scopes", "pets:read"),
      json("issue", "--name", "Writer", "--scopes", "pets:write"),
    ]);
    // Each key meets every operation twice, in another order, so that each answer also comes from the cache.
    for (const round of [1, 2]) {
      const one = async (key: string) => (await call(`/pets/${round}`, key)).status;
      expect([await create(reader.key), await list(reader.key), await one(reader.key)]).toEqual([
        403, 200, 404,
      ]);
      expect([await list(writer.key), await create(writer.key), await one(writer.key)]).toEqual([
        403, 201, 403,
      ]);
    }
    const refused = await call("/pets", writer.key);
    expect(await refused.json()).toEqual({
      code: "forbidden",
      message: "The API key does not have the scope that this operation needs.",
      status: 403,
    });
  });

  it("rotates a key: both work while the grace lasts, then the successor alone", async () => {
    const old = await json("issue", "--name", "Rotated", "--scopes", "pets:read", "--expires", "7d");
    const next = await json("rotate", old.keyId, "--grace", "3s");
    expect(next).toMatchObject({ name: "Rotated", scopes: ["pets:read"] });
    expect(Date.parse(next.expiresAt) - Date.parse(next.createdAt)).toBe(WEEK);
    const ending = await json("show", old.keyId);
    expect(ending).toMatchObject({
      expiresAt: old.expiresAt,
      revokedAt: new Date(Date.parse(next.createdAt) + 3000).toISOString(),
    });
    // A second successor has the whole lifetime as well, and does not prolong the grace.
    const second = await json("rotate", old.keyId);
    expect(Date.parse(second.expiresAt) - Date.parse(second.createdAt)).toBe(WEEK);
    expect(await json("show", old.keyId)).toEqual(ending);
    expect(await list(next.key)).toBe(200);
    // The old key is not called before its end, so that no cached policy lets it live longer.
    await eventually(async () => Date.now() > Date.parse(next.createdAt) + 3000, 10);
    expect([await list(old.key), await list(next.key)]).toEqual([401, 200]);
    const again = await keys("rotate", old.keyId);
    expect([again.code, again.stderr]).toEqual([
      1,
      `keys: The key ${old.keyId} does not work any more: issue a new one.\n`,
    ]);
  });

  it("lets both keys work in the meantime", async () => {
    const old = await json("issue", "--name", "Grace");
    const next = await json("rotate", old.keyId);
    expect([await list(old.key), await list(next.key)]).toEqual([200, 200]);
  });

  it("revokes a key at once, but for the cache where it was just used", async () => {
    const [fresh, used] = await Promise.all([
      json("issue", "--name", "Fresh"),
      json("issue", "--name", "Used"),
    ]);
    expect(await list(used.key)).toBe(200);
    expect((await json("revoke", fresh.keyId)).revokedAt).not.toBeNull();
    const { stdout } = await keys("revoke", used.keyId);
    expect(stdout).toBe(
      `Revoked ${used.keyId}. Where it was used just now, it works for up to 60 seconds more.\n`,
    );
    expect([await list(fresh.key), await list(used.key)]).toEqual([401, 200]);
    const { revokedAt } = await json("show", used.keyId);
    expect((await keys("revoke", used.keyId)).stdout).toBe(
      `${used.keyId} was revoked before, on ${revokedAt}.\n`,
    );
  });
});

describe("every bad key", () => {
  it("gets the same 401, byte for byte", async () => {
    const [expired, revoked] = await Promise.all([
      json("issue", "--name", "Expired", "--expires", "1s"),
      json("issue", "--name", "Revoked"),
    ]);
    await json("revoke", revoked.keyId);
    await eventually(async () => Date.now() > Date.parse(expired.expiresAt), 5);
    const badChecksum = revoked.key.slice(0, -1) + (revoked.key.endsWith("0") ? "1" : "0");
    const unknown = "ask_local_0000000000000000000000000001zjBqf";
    const otherStage = "ask_staging_flTgTBAiM6KCaH9rvdBWwVPlPS60EMOxt";
    const all = [expired.key, revoked.key, badChecksum, unknown, otherStage, "malformed", ""];
    const replies = await Promise.all(
      all.map(async (key) => {
        const response = await call("/pets", key);
        const { date, ...headers } = Object.fromEntries(response.headers);
        return JSON.stringify([response.status, headers, await response.text()]);
      }),
    );
    expect(new Set(replies).size).toBe(1);
    expect(replies[0]).toContain("[401,");
  });
});

describe("the command", () => {
  const fails = async (code: number, message: string, run: Promise<Run>) => {
    const { stdout, stderr, ...ended } = await run;
    expect([ended.code, stdout, stderr.split("\n")[0]]).toEqual([code, "", message]);
  };

  it("says in one line what is wrong, with exit code 1", async () => {
    await fails(1, "keys: There is no key key_0 in local.", keys("show", "key_0"));
    await fails(1, "keys: There is no key key_0 in local.", keys("revoke", "key_0"));
    await fails(1, "keys: There is no key key_0 in local.", keys("rotate", "key_0"));
    await fails(
      1,
      "keys: There is no local service in /nonexistent: run `npm start` once, or set DATA_DIR.",
      keysCli(["list", "--stage", "local"], { DATA_DIR: "/nonexistent" }),
    );
    await fails(
      1,
      "keys: No AWS region is set: set AWS_REGION, or a region in your AWS profile.",
      keysCli(["list", "--stage", "staging"]),
    );
    await fails(
      1,
      "keys: There are no AWS credentials: sign in (for example `aws sso login`) or set AWS_PROFILE.",
      keysCli(["list", "--stage", "staging"], { AWS_REGION: "eu-west-1" }),
    );
    for (const change of [
      ["issue", "--name", "x"],
      ["revoke", "key_0"],
      ["rotate", "key_0"],
    ]) {
      await fails(
        1,
        "keys: Changing production needs --yes where no one can be asked.",
        keysCli([...change, "--stage", "production"]),
      );
    }
  });

  it.each([
    [["issue"], "required option '--name <name>' not specified"],
    [["issue", "--name", ""], "Use 1 to 100 printable characters."],
    [["issue", "--name", "a\u001b[2J"], "Use 1 to 100 printable characters."],
    [["issue", "--name", "x", "--scopes", "pets:read,admin"], "Use one or more of pets:read,pets:write."],
    [["issue", "--name", "x", "--scopes", ""], "Use one or more of pets:read,pets:write."],
    [
      ["issue", "--name", "x", "--expires", "soon"],
      "Use a whole number and a unit, such as 30m, 24h or 90d.",
    ],
    [["issue", "--name", "x", "--expires", "0s"], "A key must live for some time."],
    [["show"], "missing required argument 'keyId'"],
    [["delete"], "unknown command 'delete'"],
    [["list", "--all"], "unknown option '--all'"],
  ])("explains wrong usage with exit code 2: %j", async (args, message) => {
    const { code, stderr } = await keys(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it("explains itself", async () => {
    for (const args of [["--help"], ["issue", "--help"], ["rotate", "--help"]]) {
      const { code, stdout } = await keysCli(args);
      expect([code, stdout]).toEqual([0, expect.stringContaining("Usage: npm run keys -- ")]);
    }
  });
});

describe("the service", () => {
  it("names the key in its logs, and neither prints nor stores any key", async () => {
    const { key, keyId } = await json("issue", "--name", "Logged");
    await list(key);
    await create(key);
    const lines = service
      .output()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({
        keyId,
        operation: "GET /pets",
        status: "200",
        latency: expect.stringMatching(/^\d+$/),
      }),
    );
    expect(lines.map(({ message }) => message)).toContainEqual(
      expect.objectContaining({ keyId, operation: "createPet", status: 201, latencyMs: expect.any(Number) }),
    );

    await service.stop();
    const kept = [service.output().replace(/^(API key|curl).*$/gm, "")];
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      // The one file that may hold a key is that of the local service's own.
      if (entry.isFile() && entry.name !== "api-key")
        kept.push(await readFile(join(entry.parentPath, entry.name), "latin1"));
    }
    expect(secrets.length).toBeGreaterThan(8);
    for (const secret of [...secrets, service.key]) {
      expect(kept.filter((text) => text.includes(secret.slice("ask_local_".length)))).toEqual([]);
    }
  });

  it("need not run for its keys to be managed", async () => {
    const before = await json("list");
    const { keyId } = await json("issue", "--name", "Offline");
    expect((await json("list")).map((key: { keyId: string }) => key.keyId)).toEqual([
      ...before.map((key: { keyId: string }) => key.keyId),
      keyId,
    ]);
  });
});
