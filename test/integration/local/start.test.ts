import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import dynalite from "dynalite";
import { errorBody } from "../../../lib/errors.ts";
import { makeDataFolder, marker } from "../../../local/store/data-folder.ts";
import { startStore } from "../../../local/store/store.ts";
import { eventually } from "../../support/eventually.ts";
import { listen } from "../../support/listen.ts";
import { copyAssembly, type LocalService, spawnService, startService } from "../../support/local-service.ts";
import { preload } from "../../support/preload.ts";

// The service that all tests share.
const { CONTRACT_URL = "", SHARED_DATA_FOLDER = "" } = process.env;

let folder: string;
/** A service that is killed leaves its files here. */
let temporary: string;
const ends: (() => unknown)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-start-"));
  temporary = await mkdtemp(join(tmpdir(), "animal-store-start-"));
});

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  for (const path of [folder, temporary]) await rm(path, { recursive: true });
});

const inFolder = (environment = {}) => ({ DATA_DIR: folder, TMPDIR: temporary, ...environment });

async function started(environment = {}, nodeOptions: string[] = []): Promise<LocalService> {
  const service = await startService(inFolder(environment), nodeOptions);
  ends.push(() => service.stop("SIGKILL"));
  return service;
}

/** Runs the service where it must end by itself, with the exit code 1; returns the only line that it prints. */
async function failure(environment = {}): Promise<string> {
  const { output, ended } = spawnService(inFolder(environment));
  expect(await ended).toBe(1);
  expect(output()).toMatch(/^animal-store: .+\n$/);
  return output().slice("animal-store: ".length, -1);
}

/** A module with which no timer of two seconds or more ends, such as the limits of a stop: a busy machine is slower. */
const endlessTimers = preload(`
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
const served = (send: () => Promise<Response>) =>
  eventually(send, ({ status }) => expect(status).not.toBe(503));

/** Adds a pet; returns it. */
async function add({ baseUrl, key }: LocalService) {
  const post = () => fetch(`${baseUrl}/pets`, { method: "POST", headers: headersOf(key), body });
  const response = await served(post);
  expect(response.status).toBe(201);
  return (await response.json()) as { id: number };
}

async function get({ baseUrl, key }: LocalService, id: number) {
  const response = await served(() => fetch(`${baseUrl}/pets/${id}`, { headers: headersOf(key) }));
  return response.json();
}

describe("npm start", () => {
  it("serves from its default data folder, in a working directory whose name a URL would misread", async () => {
    const cwd = join(folder, "a#b%41?c d");
    await mkdir(cwd);
    await writeFile(join(cwd, "package.json"), '{"type":"module"}'); // the functions are CommonJS
    const service = await startService({ DATA_DIR: "", TMPDIR: temporary }, [], { cwd });
    ends.push(() => service.stop("SIGKILL"));
    expect(await (await served(() => list(service))).json()).toEqual([]);
    expect(await readdir(join(cwd, ".animal-store"))).toContain("api-key");
    // A log that nobody reads does not end the service.
    for (const stream of [service.process.stdout, service.process.stderr]) stream?.destroy();
    expect((await served(() => list(service))).status).toBe(200);
    expect(await service.stop("SIGINT")).toBe(0);
  });

  it("keeps every pet that it has acknowledged, and its key, when it is killed or stopped", async () => {
    // A profile of the user, which would replace the credentials of the store, has no effect.
    const first = await started({ AWS_PROFILE: "nobody" });
    const pet = await add(first);
    await first.stop("SIGKILL");
    const second = await started({}, [endlessTimers, signalClock(400)]);
    expect(second.key).toBe(first.key);
    expect(await get(second, pet.id)).toEqual(pet);
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

  it("makes no file that others can read, follows no link, and ends at once on a later second signal", async () => {
    const linked = join(temporary, "linked");
    await writeFile(linked, "linked");
    await makeDataFolder(folder);
    for (const name of ["api-key", "tables.json"]) await symlink(linked, join(folder, name));
    await chmod(folder, 0o755);
    await mkdir(join(folder, "dynamodb"), { mode: 0o755 });
    const service = await started({}, [endlessTimers, signalClock(600)]);
    const { baseUrl, key } = service;
    expect(service.output()).toContain(
      `Base URL: ${baseUrl}\nAPI key: ${key}\ncurl -H 'Authorization: Bearer ${key}' ${baseUrl}/pets\nDocs: ${new URL("/docs", baseUrl)}\n`,
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

    const broken = once(await beginToAdd(service), "error");
    const ended = service.stop("SIGHUP");
    await closed(service);
    service.process.kill("SIGTERM");
    expect(await ended).toBe(0);
    await broken;
  });

  it("refuses to share its data with a service that starts at the same moment", async () => {
    await copyAssembly(folder);
    const services = [1, 2].map(() => spawnService(inFolder(), [endlessTimers]));
    ends.push(...services.map((service) => () => service.child.kill("SIGKILL") && service.ended));
    expect(await Promise.race(services.map(({ ended }) => ended))).toBe(1);
    const [refused, running] = services.toSorted((a) => (a.child.exitCode === null ? 1 : -1));
    expect(refused?.output()).toBe(`animal-store: The data folder ${folder} is in use by another process.\n`);
    running?.child.kill("SIGTERM");
    expect(await running?.ended).toBe(0);
    expect(running?.output()).not.toContain("animal-store: ");
  });

  it("waits until a command that has its data open is done, and refuses a burst if it throttles", async () => {
    await makeDataFolder(folder);
    const command = await startStore(join(folder, "dynamodb"));
    // LevelDB writes a new log at every attempt.
    const log = join(folder, "dynamodb", "in-use", "LOG");
    const { birthtimeMs } = await stat(log);
    const starting = started({ THROTTLE: "on" });
    await eventually(
      async () => (await stat(log)).birthtimeMs,
      (time) => expect(time).not.toBe(birthtimeMs),
    );
    await command.close();
    const { baseUrl } = await starting;
    const statuses = async (origin: string) => {
      const replies = await Promise.all(Array.from({ length: 300 }, () => fetch(`${origin}/nowhere`)));
      return new Set(replies.map(({ status }) => status));
    };
    expect(await statuses(baseUrl)).toEqual(new Set([404, 429]));
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

  it("restarts its store when the store fails, reports the same failure once, and loses no pet", async () => {
    const instrument = fileURLToPath(new URL("../../long/soak/instrument.ts", import.meta.url));
    const service = await started({}, [endlessTimers, "--import", instrument]);
    const pet = await add(service);
    const [current, log] = [join(folder, "dynamodb", "CURRENT"), join(folder, "dynamodb", "LOG")];
    const data = await readFile(current);
    await writeFile(current, "garbage");
    service.process.send("kill store");
    // LevelDB writes a new log at every attempt.
    const attempts = new Set<number>();
    await eventually(
      async () => {
        const file = await stat(log).catch(() => undefined); // it can be moved right now
        return file ? attempts.add(file.birthtimeMs) : attempts;
      },
      ({ size }) => expect(size).toBeGreaterThan(2),
    );
    await writeFile(current, data);
    await service.printed("The embedded store has restarted.");
    expect(service.output().match(/cannot restart/g)).toHaveLength(1);
    expect(await get(service, pet.id)).toEqual(pet);
  });

  it("explains its options", async () => {
    const help = spawnService(inFolder(), [], { args: ["--help"] });
    expect(await help.ended).toBe(0);
    for (const text of ["Usage: npm start", "PORT", "DATA_DIR"]) expect(help.output()).toContain(text);
    const unknown = spawnService(inFolder(), [], { args: ["--wach"] });
    expect(await unknown.ended).toBe(2);
    expect(unknown.output()).toMatch(/^animal-store: Unknown option '--wach'.*\nUsage: /);
    expect(await readdir(folder)).toEqual([]);
  });

  it("uses the DynamoDB server that it is given, and waits for tables that it creates slowly", async () => {
    const store = await listen(dynalite({ createTableMs: 1000 }));
    ends.push(store.close);
    const service = await started({ AWS_ENDPOINT_URL_DYNAMODB: store.origin });
    await add(service);
    expect(await readdir(folder)).not.toContain("dynamodb");
    // A folder has one service, whatever its store.
    expect(await failure()).toBe(`The data folder ${folder} is in use by another process.`);
    // When the store does not respond, the response is neither a 401 nor missing.
    await store.close();
    const response = await list(service);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await response.json()).toEqual(errorBody("unavailable"));
  });
});

describe("npm start ends with one clear line and exit code 1", () => {
  it("when its data folder has files of something else, and changes nothing there", async () => {
    await mkdir(join(folder, "assembly"));
    const files = ["notes.txt", ".gitignore", "api-key", "assembly/1"];
    for (const name of files) await writeFile(join(folder, name), "mine");
    const before = await readdir(folder, { recursive: true });
    expect(await failure()).toBe(
      `The folder ${folder} is not empty and has no file ${marker}: set DATA_DIR to another folder, or delete this one if another version of the service created it.`,
    );
    expect(await readdir(folder, { recursive: true })).toEqual(before);
    for (const name of files) expect(await readFile(join(folder, name), "utf8")).toBe("mine");
  });

  it("when its port is invalid or in use, before it makes a file", async () => {
    expect(await failure({ PORT: "65536" })).toBe("PORT must be a number from 0 to 65535.");
    const { origin, close } = await listen(createServer());
    ends.push(close);
    const { port } = new URL(origin);
    expect(await failure({ PORT: port })).toBe(`Port ${port} is in use. Set PORT to another one.`);
    expect(await readdir(folder)).toEqual([]);
  });

  it("when its data is corrupt", async () => {
    await makeDataFolder(folder);
    await mkdir(join(folder, "dynamodb"));
    await writeFile(join(folder, "dynamodb", "CURRENT"), "garbage");
    expect(await failure()).toContain(`The data folder ${folder}/dynamodb cannot be opened: `);
  });

  it("when its data cannot be written", async () => {
    const DATA_DIR = join(folder, "file", "data");
    await writeFile(join(folder, "file"), "");
    expect(await failure({ DATA_DIR })).toContain(`The data folder ${DATA_DIR} cannot be written (ENOTDIR)`);
  });

  it("when its DynamoDB server does not respond, before the synthesis, which takes seconds", async () => {
    const { origin, close } = await listen(createServer());
    await close();
    expect(await failure({ AWS_ENDPOINT_URL_DYNAMODB: origin })).toContain(
      `The DynamoDB endpoint ${origin} cannot be used: `,
    );
    expect(await readdir(folder)).not.toContain("assembly");
  });
});
