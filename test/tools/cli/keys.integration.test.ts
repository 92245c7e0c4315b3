import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { localStage } from "../../../infra/stages.ts";
import { generateApiKey, hashApiKey, KEY_PREFIX, keyIdOf } from "../../../lib/api-key.ts";
import { eventually } from "../../support/eventually.ts";
import type { Json } from "../../support/json.ts";
import { keysCli } from "../../support/run-node.ts";
import { shared } from "../../support/shared.ts";

const env = { DATA_DIR: shared.dataFolder };
/** Runs a command that must succeed. @returns the JSON that it printed @throws Error with its output if it fails */
async function keys(...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await keysCli([...args, "--stage", "local", "--json"], env);
  if (code !== 0 || stderr !== "") throw new Error(`keys ${args[0]} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
const issue = (owner: string, ...options: string[]) => keys("issue", "--owner", owner, ...options);

async function call(key: string, path = "/pets", init: RequestInit = {}): Promise<Response> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  return await fetch(shared.baseUrl + path, { ...init, headers });
}

it("limits a key to its scopes, not to its own animals, also with a cached policy", async () => {
  const reader = await issue("Reader", "--scopes", "pets:read,pets:read");
  const writer = await issue("Writer", "--scopes", "pets:write");
  const create = (key: string) =>
    call(key, "/pets", { method: "POST", body: '{"name":"Rex","categoryId":1}' });
  const { id } = (await (await create(writer.key)).json()) as { id: number };
  const statuses = async ({ key }: { key: string }) =>
    [await create(key), await call(key), await call(key, `/pets/${id}`)].map(({ status }) => status);
  // The second time, each policy comes from the cache.
  for (const _time of [1, 2]) {
    expect(await statuses(reader)).toEqual([403, 200, 200]);
    expect(await statuses(writer)).toEqual([201, 403, 403]);
  }
});

it("issues, lists and revokes a key: a later end does not replace an earlier one", async () => {
  const { key, ...issued } = await issue("Zoë 👩‍🚀", "--expires-in", "2h");
  const after = (hours: number) => new Date(Date.parse(issued.createdAt) + hours * 36e5).toISOString();
  const record = { owner: "Zoë 👩‍🚀", state: "live", scopes: ["pets:read", "pets:write"], endsAt: after(2) };
  expect(issued).toMatchObject({ ...record, keyId: keyIdOf(hashApiKey(key)) });
  expect(await keys("list")).toContainEqual(issued);
  const { endsAt, ...others } = await keys("revoke", issued.keyId, "--in", "1h");
  expect({ ...others, endsAt: record.endsAt }).toEqual(issued);
  expect([after(1.5), endsAt, after(1)].sort()).toEqual([after(1), endsAt, after(1.5)]);
  const revoked = { ...issued, state: "ended", endsAt: null };
  for (const again of [[], [], ["--in", "24h"]])
    expect(await keys("revoke", issued.keyId, ...again)).toEqual(revoked);
  expect((await call(key)).status).toBe(401);
});

it("shows people a line for each key, and the key itself only once", async () => {
  const issued = await keysCli(["issue", "--owner", "Acme, Inc.", "--stage", "local"], env);
  const line = String.raw`(key_\w{16})  live   never             read,write  Acme, Inc\.`;
  const shown = new RegExp(`^${line}\nSave .*:\n(${KEY_PREFIX}_local_\\w{33})\n$`);
  const [, keyId = "", key = ""] = shown.exec(issued.stdout) ?? [];
  const { stdout } = await keysCli(["list", "--stage", "local"], env);
  expect(stdout).toMatch(/^KEY ID {16}STATE {2}ENDS \(UTC\) {8}SCOPES {6}OWNER\n/);
  expect(stdout).toMatch(new RegExp(`^${line}$`, "m"));
  expect(stdout).not.toContain(key);
  const revoked = await keysCli(["revoke", keyId, "--stage", "local"], env);
  const after = `After its end, API Gateway can accept it for up to ${localStage.authorizerCacheSeconds} s.`;
  expect(revoked.stdout).toMatch(new RegExp(`^${keyId}  ended  - .*\n${after}\n$`));
});

/** The texts of all files below a folder, without the one that holds the service's own key. */
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "api-key")
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));

it("logs the key ID of a request, and neither prints nor stores a key", async () => {
  const { key, keyId } = await issue("Logged");
  await call(key);
  const printed = () => filesIn(shared.logs).map((text) => text.replace(/^(API_KEY=|curl).*$/gm, ""));
  await eventually(printed, (texts) => {
    expect(texts.join("")).toMatch(new RegExp(` 200 .* GET */v1/pets  ${keyId}$`, "m"));
    // This can fail when the store replaces a file, and is then tried again.
    const kept = [...texts, ...filesIn(shared.dataFolder)].join("");
    for (const secret of [key, shared.key])
      expect(kept).not.toContain(secret.slice(`${KEY_PREFIX}_local_`.length));
  });
});

const pasted = generateApiKey("local");
const owners = [" ", "A\u001b[31m", "\u202eA", "A".repeat(101)];
it.each([
  ...owners.map((owner): [string, string[]] => ["Use 1 to 100 printable char", ["issue", "--owner", owner]]),
  ["An owner must not contain an API key.", ["issue", "--owner", `x ${pasted}`]],
  ["Use one or more of pets:read,pets:write.", ["issue", "--owner", "x", "--scopes", "pets:read,admin"]],
  ["Use a whole number and a unit", ["issue", "--owner", "x", "--expires-in", "0d"]],
  [`That is an API key. Use its key ID: ${keyIdOf(hashApiKey(pasted))}.`, ["revoke", `Bearer ${pasted}`]],
  ["Use a key ID, such as", ["revoke", pasted.slice(0, -3)]],
  [`unknown option '--${KEY_PREFIX}_***'`, ["list", `--${pasted}`]],
])("explains wrong usage with exit code 2, and repeats no key: %s", async (message, args) => {
  const { stderr, ...result } = await keysCli([args[0] ?? "", "--stage", "local", ...args.slice(1)], env);
  expect(result).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain(pasted.slice(10, 30));
});
