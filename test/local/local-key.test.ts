import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { type ApiKeyRecord, generateApiKey, hashApiKey, keyIdOf } from "../../lib/api-key.ts";
import type { ApiKeyStore } from "../../lib/dynamo/api-key-store.ts";
import { ensureLocalKey } from "../../local/local-key.ts";

let folder: string;
let file: string;
let stored: Map<string, ApiKeyRecord>;
let keys: ApiKeyStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-key-"));
  file = join(folder, "api-key");
  stored = new Map();
  keys = {
    get: async (keyId: string) => stored.get(keyId),
    add: async (record: ApiKeyRecord) => void stored.set(record.keyId, record),
  } as unknown as ApiKeyStore;
});
afterEach(() => rm(folder, { recursive: true }));

const idOf = (key: string) => keyIdOf(hashApiKey(key));

/** Returns the local key, which the file and the store must have. */
async function issued(): Promise<string> {
  const key = await ensureLocalKey(file, keys, "local");
  expect(await readFile(file, "utf8")).toBe(`${key}\n`);
  const scopes = ["pets:read", "pets:write"];
  const createdAt = expect.closeTo(Date.now(), -8); // hours
  expect(stored.get(idOf(key))).toMatchObject({ owner: "npm start", scopes, createdAt });
  return key;
}

it("keeps the key, also when the store was emptied", async () => {
  const key = await issued();
  expect(await issued()).toBe(key);
  stored.clear();
  expect(await issued()).toBe(key);
});

it("makes a new key when the last one no longer works, or its file is damaged", async () => {
  for (const endsAt of [Date.now() - 1, Number.NaN]) {
    const key = await issued();
    const record = stored.get(idOf(key));
    if (record) stored.set(record.keyId, { ...record, endsAt });
    expect(await issued()).not.toBe(key);
  }
  for (const text of ["", "x", generateApiKey("staging")]) {
    await writeFile(file, text);
    expect(await issued()).not.toBe(text);
  }
});

it("does not write a key that it cannot store, or replace one that it cannot read", async () => {
  await expect(ensureLocalKey(folder, keys, "local")).rejects.toThrow("EISDIR");
  expect(stored.size).toBe(0);
  keys.add = () => Promise.reject(new Error("full"));
  await expect(ensureLocalKey(file, keys, "local")).rejects.toThrow("full");
  await expect(readFile(file)).rejects.toMatchObject({ code: "ENOENT" });
});
