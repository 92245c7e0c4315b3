import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeEach, expect, it } from "@jest/globals";
import dynalite from "dynalite";
import { petStore } from "../../../examples/client.ts";
import { hashApiKey, keyIdOf } from "../../../lib/api-key.ts";
import { NAME_LIMIT, PAGE_SIZE } from "../../../lib/limits.ts";
import { NewPet } from "../../../lib/pet.ts";
import { exampleOf } from "../../../openapi/example-values.ts";
import { copyCheckout } from "../../support/checkout.ts";
import { disconnect, send } from "../../support/http.ts";
import { listen } from "../../support/listen.ts";
import { type LocalService, spawnService, startService } from "../../support/local-service.ts";
import { preload } from "../../support/preload.ts";
import { keysCli } from "../../support/run-node.ts";
import { shared } from "../../support/shared.ts";

// A process that is killed leaves its files here.
const temporary = await mkdtemp(join(tmpdir(), "animal-store-start-"));
// A URL would misread this path.
const folder = join(temporary, "a#b%41?c d");
const data = join(folder, ".animal-store");

// The shared service starts with the CDK app.
const { folder: checkout, entry } = copyCheckout();
afterAll(() => rm(checkout, { recursive: true }));

let ends: AsyncDisposableStack;
beforeEach(async () => {
  ends = new AsyncDisposableStack();
  await mkdir(folder, { recursive: true });
  await mkdir(join(temporary, "dynamodb"), { recursive: true }); // of somebody else, as the other files of the folder
});
afterEach(async () => {
  disconnect();
  await ends.disposeAsync();
  await rm(temporary, { recursive: true });
});

/** Starts the service as a process. Its data folder is the default one, in the working directory. */
async function started({ preloads = [] as string[], prefix = [] as string[], env = {} } = {}) {
  // The AWS configuration of a user, of which each setting would end or redirect the calls, has no effect.
  await mkdir(join(temporary, ".aws"), { recursive: true });
  const settings = "ignore_configured_endpoint_urls = true\nuse_dualstack_endpoint = true\ndefaults_mode = x";
  await writeFile(join(temporary, ".aws/config"), `[default]\n${settings}`);
  const user = { HOME: temporary, AWS_CONFIG_FILE: "", AWS_PROFILE: "", AWS_REGION: "fips-us-east-1" };
  const all = { DATA_DIR: "", TMPDIR: temporary, AWS_USE_DUALSTACK_ENDPOINT: "true", ...user, ...env };
  const service = await startService(all, preloads, { cwd: folder, prefix, entry });
  ends.defer(async () => void (await service.stop("SIGKILL")));
  return service;
}

/** Starts the service, which ends by itself. @returns its status and what it printed */
async function ended(environment: Record<string, string>) {
  const service = spawnService(environment, [], { cwd: folder });
  ends.defer(() => void service.child.kill());
  return { status: await service.ended, output: service.output() };
}

const connects = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host, port }, () => resolve(true));
    socket.on("error", () => resolve(false)).on("connect", () => socket.destroy());
  });

const { port } = new URL(shared.baseUrl);
const body = JSON.stringify({ name: "🐈".repeat(NAME_LIMIT), categoryId: 1 });
async function add({ baseUrl, key }: LocalService): Promise<unknown> {
  const { status, text } = await send(baseUrl, { method: "POST", path: "/pets", key, body });
  expect(status).toBe(201);
  return JSON.parse(text);
}

it("prints how to call it, makes private files, and ends by a signal in an endless loop", async () => {
  await writeFile(join(folder, "package.json"), '{"type":"module"}'); // the functions are CommonJS
  const service = await started({ preloads: [preload('process.on("SIGUSR2", () => { for (;;); });')] });
  const { baseUrl, key } = service;
  expect(service.output()).toContain(
    `BASE_URL=${baseUrl}\nAPI_KEY=${key}\ncurl -w '\\n' ${baseUrl}/pets -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(exampleOf(NewPet))}'\nDocs: ${new URL("/docs", baseUrl)}\nPress Ctrl-C to stop.\n\n`,
  );
  expect(await readFile(join(data, "api-key"), "utf8")).toBe(`${key}\n`);
  expect(await readFile(join(data, ".gitignore"), "utf8")).toMatch(/^# .*\n\*\n$/);
  // The CDK sets the modes of the files in an assembly. The mode of its folder denies access to them.
  const names = (await readdir(data, { recursive: true })).filter((name) => !name.startsWith("assembly/"));
  for (const name of names)
    expect({ name, others: (await stat(join(data, name))).mode & 0o077 }).toEqual({ name, others: 0 });
  service.process.kill("SIGUSR2");
  expect(await service.stop("SIGINT")).toBe("SIGINT");
});

it("responds to a client that has closed its side of the connection", async () => {
  const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
  const { pathname } = new URL(shared.baseUrl);
  socket.end(`GET ${pathname}/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${shared.key}\r\n\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
});

it("keeps every pet that it has acknowledged when its disk is full or it is killed", async () => {
  // The disk is full when a file has 512 KiB, which is more than each file of the assembly.
  const first = await started({ prefix: ["sh", "-c", 'ulimit -f 1024 && exec "$@"', "sh"] });
  const pets: unknown[] = [];
  const keep = (pet: unknown) => pets.push(pet);
  while (first.process.exitCode === null)
    await Promise.all([1, 2, 3, 4].map(() => add(first).then(keep, () => undefined)));
  expect(pets).not.toEqual([]);
  expect(await first.stop()).toBe(1);
  expect(first.output()).toMatch(/\nanimal-store: The embedded store failed: IO error.*\n$/);
  await rm(join(data, ".gitignore")); // as `cp -r folder/*` does
  const second = await started();
  expect(second.key).toBe(first.key);
  pets.push(await add(second));
  await keysCli(["revoke", keyIdOf(hashApiKey(second.key)), "--stage", "local"], { DATA_DIR: data });
  const list = async (DATA_DIR: string) => (await keysCli(["list", "--stage", "local"], { DATA_DIR })).stderr;
  const none = /^keys: There is no local service in .*: run .*, or set DATA_DIR\.\n$/;
  await cp(data, join(temporary, "copy"), { recursive: true });
  expect(await list(join(temporary, "copy"))).toMatch(none);
  await second.stop("SIGKILL");
  expect(await list(data)).toMatch(none);
  for (const file of [".gitignore", "assembly/bundles/get-pet/index.cjs"])
    await writeFile(join(data, file), ""); // as a loss of power does
  await mkdir(join(data, "assembly/old"));
  const { baseUrl, key } = await started(); // a new one in place of the revoked one
  const listed: unknown[] = [];
  for await (const { id, categoryId, ...pet } of petStore({ baseUrl, apiKey: key }).list({
    pageSize: PAGE_SIZE.maximum,
  }))
    listed.push({ id: Number(id), categoryId: Number(categoryId), ...pet });
  expect(listed).toEqual(expect.arrayContaining(pets));
  expect(await readdir(join(data, "assembly"))).not.toContain("old");
});

it("uses another DynamoDB-compatible server with its credentials", async () => {
  const server = dynalite({ createTableMs: 50 });
  const signatures = new Set<string>();
  server.on("request", ({ headers }) =>
    signatures.add(`${headers.authorization?.split("/20")[0]} ${headers["x-amz-security-token"]}`),
  );
  const store = await listen(server);
  ends.defer(store.close);
  const env = {
    AWS_ENDPOINT_URL_DYNAMODB: store.origin,
    AWS_REGION: "",
    AWS_ACCESS_KEY_ID: "mine",
    AWS_SESSION_TOKEN: "also",
  };
  await mkdir(data);
  await writeFile(join(data, ".gitignore"), ""); // as a full disk leaves it
  await add(await started({ env }));
  expect([...signatures]).toEqual(["AWS4-HMAC-SHA256 Credential=mine also"]);
});

it("says what a function throws outside of a request, and goes on, also if nobody reads", async () => {
  const stray =
    'setTimeout(() => { throw Error("stray"); }, 1); Promise.reject(Object.assign(Error("lost"), { code: 20 }));';
  const service = await started({ preloads: [preload(stray)] });
  for (const reason of ["stray", "lost"])
    expect(service.output()).toContain(`Thrown outside of a request: Error: ${reason}\n    at `);
  service.process.stderr?.destroy(); // as `npm start 2>&1 | head` does
  for (const _time of [1, 2, 3, 4]) await add(service);
});

it("listens on 127.0.0.1 only, as does its store", async () => {
  const { endpoint } = JSON.parse(await readFile(join(shared.dataFolder, "tables.json"), "utf8"));
  const own = Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address));
  // Linux routes all of 127.0.0.0/8 to this machine; a server on 0.0.0.0 would accept the second connection.
  for (const port of [shared.baseUrl, endpoint].map((url) => Number(new URL(url).port)))
    for (const host of new Set(["127.0.0.1", "127.0.0.2", "::1", ...own]))
      expect({ host, open: await connects(host, port) }).toEqual({ host, open: host === "127.0.0.1" });
});

it("serves the docs page with the local key, and leaves every other path to the API", async () => {
  const { origin } = new URL(shared.baseUrl);
  const headers: [string, string][] = [["Cookie", "x".repeat(20_000)]]; // of other ports of 127.0.0.1
  const get = (path: string) => send(origin, { path, headers });
  for (const path of ["/", "/docs"]) expect((await get(path)).headers.get("location")).toBe("/docs/");
  expect((await get("/docs/")).text).toContain(`data-key="${shared.key}"`);
  expect((await get("/docs/package.json")).text).toContain("not_found");
});

it.each<[Record<string, string>, text: string]>([
  [{ PORT: "x" }, "Port x cannot be used (ERR_SOCKET_BAD_PORT): set PORT, "],
  [{ PORT: port }, `Port ${port} cannot be used (EADDRINUSE): set PORT, `],
  [{ DATA_DIR: "/dev/null/data" }, "The data folder /dev/null/data cannot be used, see DATA_DIR: ENOTDIR: "],
  [{ DATA_DIR: temporary }, `The data folder ${temporary} cannot be used, see DATA_DIR: it has other files.`],
])("refuses %j in one line: %s", async (env, text) => {
  const { status, output } = await ended({ DATA_DIR: data, AWS_REGION: "", ...env });
  expect({ status, output }).toEqual({ status: 1, output: expect.stringMatching(/^animal-store: .*\n$/) });
  expect(output).toContain(text);
});
