import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "@jest/globals";
import { eventually } from "../../support/eventually.ts";
import { startService } from "../../support/local-service.ts";
import { runInProcess } from "../../support/run-in-process.ts";

// What the API keys of the commands can do, in the local service.

const folder = await mkdtemp(join(tmpdir(), "animal-store-keys-"));
process.env.DATA_DIR = folder; // local/store/data-folder.ts reads it once
const { program } = await import("../../../cli/keys-program.ts");
const service = await startService({ DATA_DIR: folder });

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const keys = async (...args: string[]) => {
  const local = [...args, "--stage", "local", "--json"];
  const { code, stdout, stderr } = await runInProcess(program, "keys", local);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
};
const issue = (name: string, ...options: string[]) => keys("issue", "--owner", name, ...options);

function call(path: string, key: string, init: RequestInit = {}) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  return fetch(service.baseUrl + path, { ...init, headers });
}
const list = async (key: string) => (await call("/pets", key)).status;
const create = (key: string) => call("/pets", key, { method: "POST", body: '{"name":"Rex","categoryId":1}' });

const until = (end: string) =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, Date.parse(end) - Date.now()) + 1));

it("limits a key to its scopes but not to its own animals, also when the gateway has cached its policy", async () => {
  const reader = await issue("Reader", "--scopes", "pets:read");
  const writer = await issue("Writer", "--scopes", "pets:write");
  const both = await issue("Both", "--scopes", "pets:read", "--scopes", "pets:write");
  const { id } = (await (await create(writer.key)).json()) as { id: number };
  // Every key calls every operation twice, in another order, so that each response also comes from the cache.
  for (const _round of [1, 2]) {
    const statuses = async ({ key }: { key: string }) => [
      (await create(key)).status,
      await list(key),
      (await call(`/pets/${id}`, key)).status,
    ];
    expect(await statuses(reader)).toEqual([403, 200, 200]);
    expect((await statuses(writer)).toReversed()).toEqual([403, 403, 201]);
    expect(await statuses(both)).toEqual([201, 200, 200]);
  }
  expect(await (await call("/pets", writer.key)).json()).toEqual({
    code: "forbidden",
    message: "The API key does not have the scope that this operation needs.",
    status: 403,
  });
});

it("refuses a revoked key, unless the gateway has cached its policy", async () => {
  const [unused, used] = [await issue("Unused"), await issue("Used")];
  expect(await list(used.key)).toBe(200);
  for (const { keyId } of [unused, used]) await keys("revoke", keyId);
  expect([await list(unused.key), await list(used.key)]).toEqual([401, 200]);
});

it("refuses an expired and a revoked key with the same 401 as one that is malformed, byte for byte", async () => {
  const expired = await issue("Expired", "--expires-in", "1s");
  const revoked = await issue("Revoked");
  await keys("revoke", revoked.keyId);
  await until(expired.expiresAt);
  const invalid = [expired.key, revoked.key, "malformed", ""];
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

it("logs the key ID of a request, and neither prints nor stores a key", async () => {
  const issued = await issue("Logged");
  const successor = await keys("rotate", issued.keyId);
  for (const { key } of [issued, successor]) {
    await list(key);
    await create(key);
  }
  const latencyMs = expect.stringMatching(/^\d+$/);
  await eventually(
    () =>
      service
        .output()
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line)),
    (log) => {
      // A rotated key works until its grace period ends.
      for (const { keyId } of [issued, successor])
        for (const [route, status] of Object.entries({ "GET /pets": "200", "POST /pets": "201" }))
          expect(log).toContainEqual(expect.objectContaining({ keyId, route, status, latencyMs }));
    },
  );

  const kept = [service.output().replace(/^(API key|curl).*$/gm, "")];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    // Only this file can hold a key: that of the local service itself.
    if (entry.isFile() && entry.name !== "api-key")
      kept.push(await readFile(join(entry.parentPath, entry.name), "latin1"));
  }
  for (const { key } of [issued, successor, service]) {
    expect(kept.filter((text) => text.includes(key.slice("ask_local_".length)))).toEqual([]);
  }
});
