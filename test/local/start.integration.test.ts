import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import dynalite from "dynalite";
import { createTables } from "../../emulator/store/create-tables.ts";
import { startStore } from "../../emulator/store/store.ts";
import { readStack } from "../../emulator/template/template.ts";
import { servedStackName } from "../../infra/stages.ts";
import { PAGE_SIZE } from "../../lib/limits.ts";
import { readLocalStack } from "../../local/assembly.ts";
import { formatFile, makeDataFolder } from "../../local/data-folder.ts";
import { serve } from "../../local/serve.ts";
import { eventually, occurs } from "../support/eventually.ts";
import { disconnect, type HttpRequest, send } from "../support/http.ts";
import { listen } from "../support/listen.ts";
import { type LocalService, spawnService, startService } from "../support/local-service.ts";
import { preload } from "../support/preload.ts";
import { shared } from "../support/shared.ts";

// The service that all tests share.
const { tables } = readStack(shared.assembly, servedStackName);

// A process that is killed leaves its files here.
const temporary = await mkdtemp(join(tmpdir(), "animal-store-start-"));
// A URL would misread this path.
const folder = join(temporary, "a#b%41?c d");

let ends: AsyncDisposableStack;
const synthesize = jest.fn(async () => readLocalStack(shared.assembly));
let print: jest.SpiedFunction<typeof console.log>;

beforeEach(async () => {
  ends = new AsyncDisposableStack();
  print = jest.spyOn(console, "log").mockImplementation(() => undefined);
  synthesize.mockClear();
  await mkdir(folder, { recursive: true });
});
afterEach(async () => {
  disconnect();
  await ends.disposeAsync();
  await rm(temporary, { recursive: true });
  jest.restoreAllMocks();
});

/** Starts the service as a process. Its data folder is the default one, in the working directory. */
async function started(nodeOptions: string[], prefix: string[] = []): Promise<LocalService> {
  // The AWS configuration of a user, of which each setting would end or redirect the calls, has no effect.
  await mkdir(join(temporary, ".aws"), { recursive: true });
  const settings = "ignore_configured_endpoint_urls = true\nuse_dualstack_endpoint = true\ndefaults_mode = x";
  await writeFile(join(temporary, ".aws/config"), `[default]\n${settings}`);
  const user = { HOME: temporary, AWS_CONFIG_FILE: "", AWS_PROFILE: "", AWS_REGION: "fips-us-east-1" };
  const environment = { DATA_DIR: "", TMPDIR: temporary, AWS_USE_DUALSTACK_ENDPOINT: "true", ...user };
  const service = await startService(environment, nodeOptions, { cwd: folder, prefix });
  ends.defer(async () => void (await service.stop("SIGKILL")));
  return service;
}

async function serveHere(environment: Record<string, string>) {
  const env = { DATA_DIR: folder, PORT: "0", ...environment };
  const { server } = await serve(env, synthesize, ends, console.error);
  ends.defer(() => server.drain());
  const [, baseUrl = "", key = ""] = /^BASE_URL=(.*)\nAPI_KEY=(.*)$/.exec(print.mock.calls[0]?.[0]) ?? [];
  return { baseUrl, key };
}

/** A module with which no timer of two seconds or more ends, such as the limits of a stop: a busy machine is slower. */
const endlessTimers = preload(`
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (run, ms, ...rest) => setTimeout(run, ms >= 2000 ? 2 ** 31 - 1 : ms, ...rest);`);

/** A module with a clock that only signals move on: the later one of this test by a minute, the others by 1 ms. */
const signalClock = preload(`
  let now = 0;
  for (const [signal, ms] of Object.entries({ SIGTERM: 1, SIGINT: 1, SIGHUP: 60_000 })) process.on(signal, () => (now += ms));
  performance.now = () => now;`);

type Address = Pick<LocalService, "baseUrl" | "key">;

const canConnect = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host, port }, () => resolve(true));
    socket.on("error", () => resolve(false)).on("connect", () => socket.destroy());
  });

const closed = ({ baseUrl }: Address) =>
  eventually(
    () => canConnect("127.0.0.1", Number(new URL(baseUrl).port)),
    (open) => expect(open).toBe(false),
  );

const body = '{"name":"Survivor","categoryId":1}';

async function beginToAdd({ baseUrl, key }: Address) {
  const headers = {
    Authorization: `Bearer ${key}`,
    "Content-Type": "application/json",
    "Content-Length": body.length,
    Expect: "100-continue",
  };
  const outgoing = request(`${baseUrl}/pets`, { method: "POST", agent: false, headers });
  outgoing.flushHeaders();
  await occurs("the service waits for the body", outgoing, "continue");
  return outgoing;
}

/** Adds pets until the service ends; returns those that it has acknowledged. */
async function addUntilEnd({ baseUrl, key, process }: LocalService) {
  const acknowledged: unknown[] = [];
  const large = JSON.stringify({ name: "x".repeat(256), categoryId: 1 });
  while (process.connected) {
    const sent = send(baseUrl, { method: "POST", path: "/pets", key, body: large });
    const response = await sent.catch(() => undefined);
    if (response?.status === 201) acknowledged.push(JSON.parse(response.text));
    else expect(response?.status ?? 503).toBe(503);
  }
  return acknowledged;
}

/** Sends a request again after a 503, as a client does: on a busy machine, the store can respond too late. */
async function served({ baseUrl, key }: Address, path: string, parts: Partial<HttpRequest> = {}) {
  const { status, text } = await eventually(
    () => send(baseUrl, { path, key, ...parts }),
    ({ status }) => expect(status).not.toBe(503),
  );
  return { status, body: JSON.parse(text) as unknown };
}

async function add(service: Address) {
  const { status, body: pet } = await served(service, "/pets", { method: "POST", body });
  expect(status).toBe(201);
  return pet;
}

it("prints how to call it, and makes no file that others can read", async () => {
  await writeFile(join(folder, "package.json"), '{"type":"module"}'); // the functions are CommonJS
  const files = join(folder, ".animal-store");
  const data = join(files, "dynamodb");
  const linked = join(temporary, "linked");
  await writeFile(linked, "linked");
  await makeDataFolder({ DATA_DIR: files });
  for (const name of ["api-key", "tables.json"]) await symlink(linked, join(files, name));
  await mkdir(data);
  for (const path of [files, data]) await chmod(path, 0o755);
  const service = await started([endlessTimers]);
  const { baseUrl, key } = service;
  expect(service.output()).toContain(
    `BASE_URL=${baseUrl}\nAPI_KEY=${key}\ncurl -w '\\n' ${baseUrl}/pets -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"name": "Rex", "categoryId": 1}'\nDocs: ${new URL("/docs", baseUrl)}\nPress Ctrl-C to stop.\n\n`,
  );
  await add(service);
  expect(await readFile(join(files, "api-key"), "utf8")).toBe(`${key}\n`);
  expect(await readFile(join(files, ".gitignore"), "utf8")).toBe("*\n");
  expect(await readFile(linked, "utf8")).toBe("linked");
  const made = (await readdir(files, { recursive: true })).filter((name) => name !== "dynamodb");
  // The CDK sets the modes of the files in an assembly. The mode of its folder denies access to them.
  for (const name of made.filter((name) => !name.startsWith("assembly/"))) {
    const { mode } = await stat(join(files, name));
    expect({ name, forOthers: mode & 0o077 }).toEqual({ name, forOthers: 0 });
  }
});

it("keeps every pet that it has acknowledged when its disk is full or it is killed", async () => {
  // The disk is full when a file has 32 KiB.
  const first = await started([endlessTimers], ["sh", "-c", 'ulimit -f 64 && exec "$@"', "sh"]);
  const pets = await addUntilEnd(first);
  expect(pets).not.toEqual([]);
  expect(await first.stop()).toBe(1);
  expect(first.output()).toMatch(/\nanimal-store: The embedded store failed: IO error.*\n$/);
  const areKept = async (service: LocalService) => {
    expect(service.key).toBe(first.key);
    const listed = await served(service, `/pets?limit=${PAGE_SIZE.maximum}`);
    expect(listed).toEqual({ status: 200, body: expect.arrayContaining(pets) });
  };
  const second = await started([endlessTimers]);
  await areKept(second);
  pets.push(await add(second));
  await second.stop("SIGKILL");
  await areKept(await started([endlessTimers]));
});

it("responds before it stops to a request that has begun, until a second signal", async () => {
  const service = await started([endlessTimers, signalClock]);
  // A log that nobody reads does not end the service.
  for (const stream of [service.process.stdout, service.process.stderr]) stream?.destroy();
  const outgoing = await beginToAdd(service);
  const broken = once(await beginToAdd(service), "error");
  const ended = service.stop();
  service.process.kill("SIGINT"); // npm repeats the Ctrl-C of the terminal
  await closed(service);
  outgoing.end(body);
  const [response] = await occurs("the service responds before it stops", outgoing, "response");
  expect(response).toMatchObject({ statusCode: 201, headers: { connection: "close" } });
  const end = occurs("a second signal ends the service", service.process, "exit");
  service.process.kill("SIGHUP");
  await end;
  expect(await ended).toBe(0);
  await broken;
});

it("shares its folder with no other service, whatever its store, and waits for new tables", async () => {
  // Its own `close` would close its data under a query that still runs.
  const [handle] = dynalite({ createTableMs: 500 }).listeners("request") as [RequestListener];
  const store = await listen(createServer(handle));
  ends.defer(store.close);
  jest.spyOn(process.stderr, "write").mockReturnValue(true); // the log
  const environment = { AWS_ENDPOINT_URL_DYNAMODB: store.origin };
  const starts = await Promise.allSettled([serveHere(environment), serveHere(environment)]);
  const [service] = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  const refusals = starts.flatMap((start) => (start.status === "rejected" ? [start.reason.message] : []));
  expect(refusals).toEqual([
    `The data folder ${folder} is in use by another process: set DATA_DIR to another folder.`,
  ]);
  if (!service) throw new Error("No service has started.");
  await add(service);
  expect(await readdir(folder)).not.toContain("dynamodb");
});

it("listens on 127.0.0.1 only, as does its store", async () => {
  const { endpoint } = JSON.parse(await readFile(join(shared.dataFolder, "tables.json"), "utf8"));
  for (const url of [shared.baseUrl, endpoint]) {
    const port = Number(new URL(url).port);
    const own = Object.values(networkInterfaces()).flatMap((found = []) =>
      found.map(({ address }) => address),
    );
    // Linux routes all of 127.0.0.0/8 to this machine; a server on 0.0.0.0 would accept the second connection.
    for (const host of new Set(["127.0.0.1", "127.0.0.2", "::1", ...own]))
      expect({ host, open: await canConnect(host, port) }).toEqual({ host, open: host === "127.0.0.1" });
  }
});

it("serves the docs page with the local key, and leaves every other path to the API", async () => {
  const { origin } = new URL(shared.baseUrl);
  const redirects = await Promise.all(["/", "/docs"].map((path) => send(origin, { path })));
  expect(redirects.map(({ headers }) => headers.get("location"))).toEqual(["/docs/", "/docs/"]);
  const page = await send(origin, { path: "/docs/" });
  expect(page.text).toContain(`data-key="${shared.key}"`);
  const other = await send(origin, { path: "/docs/package.json" });
  expect(other).toMatchObject({ status: 404, text: expect.stringContaining("not_found") });
  const twoHosts = await send(origin, { path: "/docs/", headers: [["Host", "localhost"]] });
  expect(twoHosts).toMatchObject({ status: 400, text: expect.stringContaining("invalid_request") });
});

it("explains its options, and a mistake in one line", async () => {
  const help = spawnService({}, [], { args: ["--help"] });
  const mistake = spawnService({ DATA_DIR: folder, PORT: "x" });
  expect(await help.ended).toBe(0);
  for (const text of ["Usage: npm start", "PORT", "DATA_DIR"]) expect(help.output()).toContain(text);
  expect(await mistake.ended).toBe(1);
  expect(mistake.output()).toBe("animal-store: PORT must be an integer from 0 to 65535, not `x`.\n");
});

async function makeOldTables(): Promise<void> {
  await makeDataFolder({ DATA_DIR: folder });
  const store = await startStore(join(folder, "dynamodb"));
  for (const { GlobalSecondaryIndexes, AttributeDefinitions, ...table } of tables) {
    const names = table.KeySchema?.map(({ AttributeName }) => AttributeName);
    const own = AttributeDefinitions?.filter(({ AttributeName }) => names?.includes(AttributeName));
    await createTables(store, [{ ...table, AttributeDefinitions: own }]);
  }
  await store.close();
}

const { port } = new URL(shared.baseUrl);
const endpoint = "http://127.0.0.1:1";
const isUsed = `Port ${port} cannot be used (EADDRINUSE). For a second service, set PORT and DATA_DIR.`;
const isOther = `The folder ${folder} is not empty, and has no file ${formatFile}: set DATA_DIR to a new or empty folder.`;
const isOld = `has no index byStatus. Delete the folder ${folder} or set DATA_DIR to another one.`;
it.each<[Record<string, string>, message: string, syntheses: number, prepare?: () => unknown]>([
  [{ PORT: "65536" }, "PORT must be an integer from 0 to 65535, not `65536`.", 0],
  [{ PORT: port }, isUsed, 0],
  [{ AWS_ENDPOINT_URL_DYNAMODB: endpoint }, `The DynamoDB endpoint ${endpoint} cannot be used: `, 1],
  [{}, isOther, 0, () => writeFile(join(folder, `${formatFile}0`), "")],
  [{}, isOld, 1, makeOldTables],
])("refuses %j in one line, before a synthesis if it can: %s", async (...row) => {
  const [environment, message, syntheses, prepare] = row;
  await prepare?.();
  const before = await readdir(folder);
  await expect(serveHere(environment)).rejects.toThrow(message);
  expect(synthesize).toHaveBeenCalledTimes(syntheses);
  if (before.includes(`${formatFile}0`)) expect(await readdir(folder)).toEqual(before);
});
