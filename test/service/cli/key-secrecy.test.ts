import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { keysJson } from "../../support/keys-cli.ts";
import { type LocalService, startService } from "../../support/local-service.ts";

let folder: string;
let service: LocalService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-secrecy-"));
  service = await startService({ DATA_DIR: folder });
});

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const keys = (...args: string[]) => keysJson([...args, "--stage", "local"], { DATA_DIR: folder });

function pets(key: string, init: RequestInit = {}) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  return fetch(`${service.baseUrl}/pets`, { ...init, headers });
}

it("logs the key ID of a request, and neither prints nor stores a key", async () => {
  const issued = await keys("issue", "--name", "Logged");
  const successor = await keys("rotate", issued.keyId);
  for (const { key } of [issued, successor]) {
    await pets(key);
    await pets(key, { method: "POST", body: '{"name":"Rex","categoryId":1}' });
  }
  await service.stop();

  const log = service
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  const { keyId } = issued;
  const latency = expect.stringMatching(/^\d+$/);
  expect(log).toContainEqual(
    expect.objectContaining({ keyId, operation: "GET /pets", status: "200", latency }),
  );
  expect(log).toContainEqual(expect.objectContaining({ keyId, operation: "POST /pets", status: "201" }));

  const kept = [service.output().replace(/^(API key|curl).*$/gm, "")];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    // Only this file can hold a key: that of the local service itself.
    if (entry.isFile() && entry.name !== "api-key")
      kept.push(await readFile(join(entry.parentPath, entry.name), "latin1"));
  }
  for (const key of [issued.key, successor.key, service.key]) {
    expect(kept.filter((text) => text.includes(key.slice("ask_local_".length)))).toEqual([]);
  }

  // Keys can be managed while the service is stopped.
  const offline = await keys("issue", "--name", "Offline");
  const listed: { keyId: string }[] = await keys("list");
  expect(listed.map((key) => key.keyId).slice(1)).toEqual([keyId, successor.keyId, offline.keyId]);
});
