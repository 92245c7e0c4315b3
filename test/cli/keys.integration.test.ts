import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { keysProgram } from "../../cli/keys.ts";
import { errorBody } from "../../lib/errors.ts";
import { eventually } from "../support/eventually.ts";
import { runHere } from "../support/run-here.ts";
import { shared } from "../support/shared.ts";

// What the API keys of the commands can do, in the local service that the tests share.

const keys = async (...args: string[]) => {
  const local = [...args, "--stage", "local", "--json"];
  const env = { DATA_DIR: shared.dataFolder };
  const { stdout, ...others } = await runHere(keysProgram, "keys", local, env);
  expect(others).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
};
const issue = (name: string, ...options: string[]) => keys("issue", "--owner", name, ...options);

function call(path: string, key: string, init: RequestInit = {}) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  return fetch(shared.baseUrl + path, { ...init, headers });
}
const list = async (key: string) => (await call("/pets", key)).status;
const create = (key: string) => call("/pets", key, { method: "POST", body: '{"name":"Rex","categoryId":1}' });

it("limits a key to its scopes, not to its own animals, also with a cached policy", async () => {
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
  expect(await (await call("/pets", writer.key)).json()).toEqual(errorBody("forbidden"));
});

it("refuses an expired and a revoked key as a malformed one, unless their policy is cached", async () => {
  const expired = await issue("Expired", "--expires-in", "1s");
  const [revoked, used] = [await issue("Revoked"), await issue("Used")];
  expect(await list(used.key)).toBe(200);
  for (const { keyId } of [revoked, used]) await keys("revoke", keyId);
  expect(await list(used.key)).toBe(200);
  await new Promise((end) => setTimeout(end, Math.max(0, Date.parse(expired.expiresAt) - Date.now()) + 1));
  const invalid = [expired.key, revoked.key, "malformed", ""];
  const responses = await Promise.all(
    invalid.map(async (key) => {
      const response = await call("/pets", key);
      // What differs from response to response.
      const own = ["date", "x-amzn-requestid", "x-amz-apigw-id"];
      const headers = [...response.headers].filter(([name]) => !own.includes(name));
      return JSON.stringify([response.status, headers, await response.text()]);
    }),
  );
  expect(new Set(responses).size).toBe(1);
  expect(responses[0]).toContain("[401,");
});

/** The texts of all files below a folder, without the one that holds the service's own key. */
function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== "api-key");
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
}

it("logs the key ID of a request, and neither prints nor stores a key", async () => {
  const issued = await issue("Logged");
  const successor = await keys("rotate", issued.keyId);
  for (const { key } of [issued, successor]) {
    await list(key);
    await create(key);
  }
  const latencyMs = expect.stringMatching(/^\d+$/);
  const printed = () => filesIn(shared.logs).map((text) => text.replace(/^(API_KEY=|curl).*$/gm, ""));
  await eventually(printed, (texts) => {
    const lines = texts.flatMap((text) => text.split("\n"));
    const ours = lines.filter((line) => line.includes(issued.keyId) || line.includes(successor.keyId));
    const log = ours.map((line) => JSON.parse(line));
    // A rotated key works until its grace period ends.
    for (const { keyId } of [issued, successor])
      for (const [route, status] of Object.entries({ "GET /pets": "200", "POST /pets": "201" }))
        expect(log).toContainEqual(expect.objectContaining({ keyId, route, status, latencyMs }));
    // This can fail when the store replaces a file, and is then tried again.
    const kept = [...texts, ...filesIn(shared.dataFolder)];
    for (const key of [issued.key, successor.key, shared.key])
      expect(kept.filter((text) => text.includes(key.slice("ask_local_".length)))).toEqual([]);
  });
});
