import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import dynalite from "dynalite";
import { awsEnvironment } from "../../../emulator/store/aws-environment.ts";
import { createTables } from "../../../emulator/store/create-tables.ts";
import { startStore } from "../../../emulator/store/store.ts";
import { readStack } from "../../../emulator/template/template.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { errorBody } from "../../../lib/errors.ts";
import { makeDataFolder, marker } from "../../../local/data-folder.ts";
import { eventually } from "../../support/eventually.ts";
import { disconnect, send } from "../../support/http.ts";
import { listen } from "../../support/listen.ts";
import { copyAssembly, type LocalService, spawnService, startService } from "../../support/local-service.ts";
import { preload } from "../../support/preload.ts";

// The service that all tests share.
const { CONTRACT_URL = "", CONTRACT_KEY, SHARED_DATA_FOLDER = "" } = process.env;

let folder: string;
/** A service that is killed leaves its files here. */
let temporary: string;
const ends: (() => unknown)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-start-"));
  temporary = await mkdtemp(join(tmpdir(), "animal-store-start-"));
});

afterEach(async () => {
  disconnect();
  for (const end of ends.splice(0).toReversed()) await end();
  for (const path of [folder, temporary]) await rm(path, { recursive: true });
});

const inFolder = (environment = {}) => ({ DATA_DIR: folder, TMPDIR: temporary, ...environment });

async function started(environment = {}, nodeOptions: string[] = [], cwd = folder): Promise<LocalService> {
  const service = await startService(inFolder(environment), nodeOptions, { cwd });
  ends.push(() => service.stop("SIGKILL"));
  return service;
}

/** A module with which no timer of two seconds or more ends, and no socket times out: a busy machine is slower. */
const endlessTimers = preload(`
  import { Socket } from "node:net";
  Socket.prototype.setTimeout = function () { return this; };
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (run, ms, ...rest) => setTimeout(run, ms >= 2000 ? 2 ** 31 - 1 : ms, ...rest);`);

/** A module with a clock that only signals move on, by this many milliseconds each. */
const signalClock = (step: number) =>
  preload(`
  let now = 0;
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => (now += ${step}));
  performance.now = () => now;`);

const canConnect = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host, port }, () => resolve(true));
    socket.on("error", () => resolve(false)).on("connect", () => socket.destroy());
  });

/** Waits until a service accepts no connection, because it stops. */
const closed = ({ baseUrl }: LocalService) =>
  eventually(
    () => canConnect("127.0.0.1", Number(new URL(baseUrl).port)),
    (open) => expect(open).toBe(false),
  );

const headersOf = (key: string) => ({ Authorization: `Bearer ${key}`, "Content-Type": "application/json" });

const list = ({ baseUrl, key }: LocalService) => fetch(`${baseUrl}/pets`, { headers: headersOf(key) });

const body = '{"name":"Survivor","categoryId":1}';

/** Begins to add a pet. The service waits for the body. */
async function beginToAdd({ baseUrl, key }: LocalService) {
  const headers = { ...headersOf(key), "Content-Length": body.length, Expect: "100-continue" };
  const outgoing = request(`${baseUrl}/pets`, { method: "POST", agent: false, headers });
  outgoing.flushHeaders();
  await once(outgoing, "continue");
  return outgoing;
}

/** Sends a request again after a 503, as a client does: on a busy machine, the store can respond too late. */
async function served({ baseUrl, key }: LocalService, path: string, init: RequestInit = {}) {
  const url = baseUrl + path;
  const response = await eventually(
    () => fetch(url, { ...init, headers: headersOf(key) }),
    ({ status }) => expect(status).not.toBe(503),
  );
  return { status: response.status, pet: (await response.json()) as { id: number } };
}

/** Adds a pet; returns it. */
async function add(service: LocalService) {
  const { status, pet } = await served(service, "/pets", { method: "POST", body });
  expect(status).toBe(201);
  return pet;
}

it("keeps its key and every pet that it has acknowledged when its store fails, it is killed, or it stops", async () => {
  // The default data folder, in a working directory whose name a URL would misread.
  const cwd = join(folder, "a#b%41?c d");
  await mkdir(cwd);
  await writeFile(join(cwd, "package.json"), '{"type":"module"}'); // the functions are CommonJS
  // A profile of the user, which would replace the credentials of the store, has no effect.
  const environment = { DATA_DIR: "", AWS_PROFILE: "nobody" };
  const instrument = fileURLToPath(new URL("../../support/instrument.ts", import.meta.url));
  const first = await started(environment, [endlessTimers, "--import", instrument], cwd);
  const pet = await add(first);
  const isKept = async (service: LocalService) =>
    expect(await served(service, `/pets/${pet.id}`)).toEqual({ status: 200, pet });

  const data = join(cwd, ".animal-store", "dynamodb");
  const [current, log] = [join(data, "CURRENT"), join(data, "LOG")];
  const content = await readFile(current);
  await writeFile(current, "garbage");
  first.process.send("fail store");
  // LevelDB writes a new log at every attempt.
  const attempts = new Set<number>();
  await eventually(
    async () => {
      const file = await stat(log).catch(() => undefined); // it can be moved right now
      return file ? attempts.add(file.birthtimeMs) : attempts;
    },
    ({ size }) => expect(size).toBeGreaterThan(2),
  );
  await writeFile(current, content);
  await first.printed("The embedded store has restarted.");
  expect(first.output().match(/cannot restart/g)).toHaveLength(1);
  await isKept(first);

  await first.stop("SIGKILL");
  const second = await started(environment, [endlessTimers, signalClock(400)], cwd);
  expect(second.key).toBe(first.key);
  // A log that nobody reads does not end the service.
  for (const stream of [second.process.stdout, second.process.stderr]) stream?.destroy();
  await isKept(second);

  // It responds to a request that has begun when it is stopped.
  const outgoing = await beginToAdd(second);
  const ended = second.stop();
  second.process.kill("SIGINT"); // npm repeats the Ctrl-C of the terminal
  await closed(second);
  outgoing.end(body);
  const [response] = await once(outgoing, "response");
  expect([response.statusCode, response.headers.connection]).toEqual([201, "close"]);
  expect(await ended).toBe(0);
});

it("waits until a command is done with its data, makes no file that others can read, and follows no link", async () => {
  const linked = join(temporary, "linked");
  await writeFile(linked, "linked");
  await makeDataFolder(folder);
  for (const name of ["api-key", "tables.json"]) await symlink(linked, join(folder, name));
  const data = join(folder, "dynamodb");
  const command = await startStore(data);
  for (const path of [folder, data]) await chmod(path, 0o755);
  // LevelDB writes a new log at every attempt.
  const log = join(data, "in-use", "LOG");
  const { birthtimeMs } = await stat(log);
  const starting = started({}, [endlessTimers, signalClock(600)]);
  await eventually(
    async () => (await stat(log)).birthtimeMs,
    (time) => expect(time).not.toBe(birthtimeMs),
  );
  await command.close();
  const service = await starting;
  const { baseUrl, key } = service;
  expect(service.output()).toContain(
    `BASE_URL=${baseUrl}\nAPI_KEY=${key}\ncurl -H 'Authorization: Bearer ${key}' ${baseUrl}/pets\nDocs: ${new URL("/docs", baseUrl)}\n`,
  );
  expect(await readFile(join(folder, "api-key"), "utf8")).toBe(`${key}\n`);
  expect(await readFile(join(folder, ".gitignore"), "utf8")).toBe("*\n");
  const made = (await readdir(folder, { recursive: true })).filter((name) => name !== "dynamodb");
  // The CDK sets the modes of the files in an assembly. The mode of its folder denies access to them.
  for (const name of made.filter((name) => !name.startsWith("assembly/"))) {
    const { mode } = await stat(join(folder, name));
    expect([name, mode & 0o077]).toEqual([name, 0]);
  }
  expect(await readFile(linked, "utf8")).toBe("linked");

  // A later second signal ends it at once.
  const broken = once(await beginToAdd(service), "error");
  const ended = service.stop("SIGHUP");
  await closed(service);
  service.process.kill("SIGTERM");
  expect(await ended).toBe(0);
  await broken;
});

it("shares its folder with no other service, whatever its store, waits for new tables, and throttles if told so", async () => {
  const store = await listen(dynalite({ createTableMs: 500 }));
  ends.push(store.close);
  await copyAssembly(folder);
  const environment = { AWS_ENDPOINT_URL_DYNAMODB: store.origin, THROTTLE: "on" };
  const starts = await Promise.allSettled([started(environment), started(environment)]);
  const [service] = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  const refusals = starts.flatMap((start) => (start.status === "rejected" ? [start.reason.message] : []));
  expect(refusals).toEqual([
    `The service ended with 1. The end of its log:\nanimal-store: The data folder ${folder} is in use by another process.\n`,
  ]);
  if (!service) throw new Error("No service has started.");
  await add(service);
  expect(await readdir(folder)).not.toContain("dynamodb");
  // When the store does not respond, the response is neither a 401 nor missing.
  await store.close();
  const response = await list(service);
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await response.json()).toEqual(errorBody("unavailable"));

  const statuses = async (baseUrl: string) => {
    const replies = await Promise.all(Array.from({ length: 300 }, () => fetch(`${baseUrl}/nowhere`)));
    return new Set(replies.map(({ status }) => status));
  };
  expect(await statuses(service.baseUrl)).toEqual(new Set([404, 429]));
  expect(await statuses(CONTRACT_URL)).toEqual(new Set([404]));
});

it("listens on 127.0.0.1 only, as does its store", async () => {
  const { endpoint } = JSON.parse(await readFile(join(SHARED_DATA_FOLDER, "tables.json"), "utf8"));
  for (const url of [CONTRACT_URL, endpoint]) {
    const port = Number(new URL(url).port);
    // Linux routes all of 127.0.0.0/8 to this machine; a server on 0.0.0.0 would accept the second connection.
    expect(await canConnect("127.0.0.1", port)).toBe(true);
    const others = Object.values(networkInterfaces())
      .flat()
      .map((address) => address?.address ?? "");
    for (const host of ["127.0.0.2", "::1", ...others].filter((address) => address !== "127.0.0.1")) {
      expect([host, await canConnect(host, port)]).toEqual([host, false]);
    }
  }
});

it("serves the docs page with the local key, and leaves every other path to the API", async () => {
  const { origin } = new URL(CONTRACT_URL);
  const page = await fetch(`${origin}/`);
  expect(await page.text()).toContain(`data-key="${CONTRACT_KEY}"`);
  const other = await fetch(`${origin}/docs/package.json`);
  expect([other.status, await other.json()]).toMatchObject([404, { code: "not_found" }]);
  const twoHosts = await send(origin, { path: "/docs/", headers: [["Host", "localhost"]] });
  expect([twoHosts.status, JSON.parse(twoHosts.text)]).toMatchObject([400, { code: "invalid_request" }]);
});

it("explains its options", async () => {
  const [help, unknown] = ["--help", "--wach"].map((arg) => spawnService(inFolder(), [], { args: [arg] }));
  expect([await help?.ended, await unknown?.ended]).toEqual([0, 2]);
  for (const text of ["Usage: npm start", "PORT", "DATA_DIR"]) expect(help?.output()).toContain(text);
  expect(unknown?.output()).toMatch(/^animal-store: Unknown option '--wach'.*\nUsage: /);
});

it("ends with one clear line and exit code 1, and changes no file, when its port, folder or server cannot be used", async () => {
  await mkdir(join(folder, "assembly"));
  const files = ["notes.txt", ".gitignore", "api-key", "assembly/1"];
  for (const name of files) await writeFile(join(folder, name), "mine");
  const before = await readdir(folder, { recursive: true });
  const other = await listen(createServer());
  ends.push(other.close);
  const { port } = new URL(other.origin);
  const data = join(temporary, "data");
  for (const [environment, message] of [
    [{ PORT: "65536" }, "PORT must be an integer from 0 to 65535, not `65536`."],
    [{ THROTTLE: "yes" }, "THROTTLE must be on or off, not `yes`."],
    [{ PORT: port }, `Port ${port} is in use. Set PORT to another one.`],
    [
      {},
      `The folder ${folder} is not empty and has no file ${marker}: set DATA_DIR to another folder, or delete this one if another version of the service created it.`,
    ],
    [
      { DATA_DIR: data, AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:1" },
      expect.stringContaining("The DynamoDB endpoint http://127.0.0.1:1 cannot be used: "),
    ],
  ] as const) {
    const { output, ended } = spawnService(inFolder(environment));
    expect(await ended).toBe(1);
    expect(/^animal-store: (.*)\n$/.exec(output())?.[1]).toEqual(message);
  }
  expect(await readdir(data)).not.toContain("assembly"); // a synthesis takes seconds
  expect(await readdir(folder, { recursive: true })).toEqual(before);
  for (const name of files) expect(await readFile(join(folder, name), "utf8")).toBe("mine");
});

it.each<[what: string, prepare: (data: string) => unknown, message: (data: string) => string]>([
  [
    "a table without an index of the template",
    async (data) => {
      const { endpoint, accessKeyId, close } = await startStore(join(data, "dynamodb"));
      const { tables } = readStack(process.env.TEST_ASSEMBLY ?? "", servedStackName);
      Object.assign(process.env, awsEnvironment({ endpoint, accessKeyId }));
      const withoutIndexes = { GlobalSecondaryIndexes: undefined, AttributeDefinitions: undefined };
      for (const table of tables.filter(({ GlobalSecondaryIndexes }) => GlobalSecondaryIndexes)) {
        const keys = table.KeySchema?.map(({ AttributeName }) => AttributeName);
        const AttributeDefinitions = table.AttributeDefinitions?.filter((attribute) =>
          keys?.includes(attribute.AttributeName),
        );
        await createTables(endpoint, [{ ...table, ...withoutIndexes, AttributeDefinitions }]);
      }
      await close();
    },
    (data) => `has no index byStatus. Delete the folder ${data} or set DATA_DIR to another one.`,
  ],
  [
    "a FIFO in place of the key",
    (data) => execFileSync("mkfifo", [join(data, "api-key")]),
    (data) => `${join(data, "api-key")} is not a file: delete it.`,
  ],
])("ends with one clear line when the data folder has %s", async (_what, prepare, message) => {
  await copyAssembly(folder);
  await prepare(folder);
  const { output, ended } = spawnService(inFolder());
  expect(await ended).toBe(1);
  expect(output()).toMatch(/^animal-store: .*\n$/);
  expect(output()).toContain(message(folder));
});
