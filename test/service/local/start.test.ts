import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import dynalite from "dynalite";
import { type Store, startStore } from "../../../local/store/store.ts";
import { type LocalService, spawnService, startService } from "../../support/local-service.ts";

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

async function started(
  environment: Record<string, string> = {},
  nodeOptions: string[] = [],
): Promise<LocalService> {
  const service = await startService({ DATA_DIR: folder, TMPDIR: temporary, ...environment }, nodeOptions);
  ends.push(() => service.stop("SIGKILL"));
  return service;
}

/** Runs the service where it must end by itself; returns its exit code and output. */
async function failed(environment: Record<string, string>, nodeOptions: string[] = []) {
  const { output, ended } = spawnService(
    { DATA_DIR: folder, TMPDIR: temporary, ...environment },
    nodeOptions,
  );
  return { code: await ended, output: output() };
}

/** A module that makes `listen` fail as it does without privileges, also when the tests run as root. */
const denyPrivilegedPorts = `data:text/javascript,${encodeURIComponent(`
  import { Server } from "node:net";
  const { listen } = Server.prototype;
  Server.prototype.listen = function (port, ...rest) {
    if (port > 0 && port < 1024) {
      process.nextTick(() => this.emit("error", Object.assign(new Error("EACCES"), { code: "EACCES" })));
      return this;
    }
    return listen.call(this, port, ...rest);
  };`)}`;

const canConnect = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host, port }, () => resolve(true));
    socket.on("error", () => resolve(false)).on("connect", () => socket.destroy());
  });

const headersOf = (key: string) => ({ Authorization: `Bearer ${key}`, "Content-Type": "application/json" });

describe("npm start", () => {
  it("serves from its default data folder, in a working directory whose name a URL would misread", async () => {
    const cwd = join(folder, "a#b%41?c d");
    await mkdir(cwd);
    const service = await startService({ DATA_DIR: "", TMPDIR: temporary }, [], { cwd });
    ends.push(() => service.stop("SIGKILL"));
    const response = await fetch(`${service.baseUrl}/pets`, { headers: headersOf(service.key) });
    expect([response.status, await response.json()]).toEqual([200, []]);
    expect(await readdir(join(cwd, ".animal-store"))).toContain("api-key");
  });

  it("keeps every pet that it has acknowledged, and its key, when it is killed right after", async () => {
    const first = await started();
    const headers = headersOf(first.key);
    const body = '{"name":"Survivor","categoryId":1}';
    const response = await fetch(`${first.baseUrl}/pets`, { method: "POST", headers, body });
    await first.stop("SIGKILL");
    expect(response.status).toBe(201);
    const { id } = (await response.json()) as { id: number };

    const second = await started();
    expect(second.key).toBe(first.key);
    const again = await fetch(`${second.baseUrl}/pets/${id}`, { headers });
    expect([again.status, await again.json()]).toEqual([
      200,
      { id, name: "Survivor", categoryId: 1, status: "available" },
    ]);
  });

  it("prints its address, key and a command to try, keeps its files private, and stops on a signal", async () => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      const service = await started();
      const { baseUrl, key } = service;
      expect(service.output()).toContain(
        `Base URL: ${baseUrl}\nAPI key: ${key}\ncurl -H 'Authorization: Bearer ${key}' ${baseUrl}/pets\n`,
      );
      expect(baseUrl).toMatch(/^http:\/\/localhost:\d+\/v1$/);
      expect((await fetch(`${baseUrl}/pets`, { headers: headersOf(key) })).status).toBe(200);
      expect((await readFile(join(folder, "api-key"), "utf8")).trim()).toBe(key);
      expect((await stat(join(folder, "api-key"))).mode & 0o777).toBe(0o600);
      expect((await stat(join(folder, "dynamodb"))).mode & 0o777).toBe(0o700);
      expect(await readFile(join(folder, ".gitignore"), "utf8")).toBe("*\n");
      expect(await service.stop(signal)).toBe(0);
      await expect(fetch(baseUrl)).rejects.toThrow();
    }
  });

  it("makes no file that others can read, even in a folder that they can", async () => {
    await chmod(folder, 0o755);
    await mkdir(join(folder, "dynamodb"), { mode: 0o755 });
    await started();
    const made = (await readdir(folder, { recursive: true })).filter((name) => name !== "dynamodb");
    expect(made).toContain("api-key");
    // The CDK sets the modes of the files in an assembly. The mode of its folder denies access to them.
    for (const name of made.filter((name) => !name.startsWith("assembly/"))) {
      const { mode } = await stat(join(folder, name));
      expect([name, mode & 0o077]).toEqual([name, 0]);
    }
  });

  it("refuses to share its data with services that start at the same moment", async () => {
    const services = [1, 2, 3].map(() => spawnService({ DATA_DIR: folder, TMPDIR: temporary }));
    for (const { child, ended } of services) {
      ends.push(async () => {
        // A killed service would leave its CDK app running.
        child.kill("SIGTERM");
        await ended;
      });
    }
    // Two of them end by themselves.
    const codes: (number | null)[] = [];
    await new Promise<void>((resolve) => {
      for (const { ended } of services) ended.then((code) => codes.push(code) === 2 && resolve());
    });
    expect(codes).toEqual([1, 1]);
    const lines = services.filter(({ child }) => child.exitCode === 1).map(({ output }) => output());
    expect(new Set(lines)).toEqual(
      new Set([`animal-store: The data folder ${folder}/dynamodb is in use by another process.\n`]),
    );
  });

  it("listens on 127.0.0.1 only, as does its store", async () => {
    const service = await started();
    const { endpoint } = JSON.parse(await readFile(join(folder, "tables.json"), "utf8"));
    for (const url of [service.baseUrl, endpoint]) {
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

  it("responds to a client that closes its side of the connection after the request", async () => {
    const { baseUrl, key } = await started();
    const socket = connect({ port: Number(new URL(baseUrl).port), host: "127.0.0.1", allowHalfOpen: true });
    socket.end(`GET /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    let reply = "";
    for await (const chunk of socket) reply += chunk;
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("restarts its store when the store fails, and loses no pet", async () => {
    const instrument = fileURLToPath(new URL("../../long/soak/instrument.ts", import.meta.url));
    const service = await started({}, ["--import", instrument]);
    const headers = headersOf(service.key);
    const body = '{"name":"Survivor","categoryId":1}';
    const created = await fetch(`${service.baseUrl}/pets`, { method: "POST", headers, body });
    const { id } = (await created.json()) as { id: number };
    service.process.send("kill store");
    await service.printed("The embedded store has restarted.");
    const again = await fetch(`${service.baseUrl}/pets/${id}`, { headers });
    expect(again.status).toBe(200);
  });

  it("removes the assemblies of other sources, and an incomplete one", async () => {
    await mkdir(join(folder, "assembly", "0123.draft"), { recursive: true });
    await mkdir(join(folder, "assembly", "4567"));
    const first = await started();
    const [assembly, ...others] = await readdir(join(folder, "assembly"));
    expect(others).toEqual([]);
    const { mtimeMs } = await stat(join(folder, "assembly", assembly ?? ""));
    await first.stop("SIGKILL");
    await started();
    expect((await stat(join(folder, "assembly", assembly ?? ""))).mtimeMs).toBe(mtimeMs);
  });

  it("waits for the tables of a DynamoDB server that creates them slowly", async () => {
    const server = dynalite({ createTableMs: 1000 });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ends.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const service = await started({ AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}` });
    expect((await fetch(`${service.baseUrl}/pets`, { headers: headersOf(service.key) })).status).toBe(200);
  });

  it("uses the DynamoDB server that it is given", async () => {
    const store: Store = await startStore();
    ends.push(store.close);
    const service = await started({ AWS_ENDPOINT_URL_DYNAMODB: store.endpoint });
    const headers = headersOf(service.key);
    const body = '{"name":"Elsewhere","categoryId":1}';
    expect((await fetch(`${service.baseUrl}/pets`, { method: "POST", headers, body })).status).toBe(201);
    await expect(stat(join(folder, "dynamodb"))).rejects.toThrow();
    // When the store does not respond, the response is neither a 401 nor missing.
    await store.close();
    ends.length = 1;
    ends[0] = () => service.stop("SIGKILL");
    const response = await fetch(`${service.baseUrl}/pets`, { headers });
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { code: "unavailable", status: 503 },
    ]);
    expect(response.headers.get("retry-after")).toBe("1");
  });
});

describe("npm start ends with one clear line and exit code 1", () => {
  const oneLine = (output: string) => expect(output.trimEnd().split("\n")).toHaveLength(1);

  it("when its port is in use", async () => {
    const other: Server = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    ends.push(() => other.close());
    const { port } = other.address() as AddressInfo;
    const { code, output } = await failed({ PORT: String(port) });
    expect([code, output]).toEqual([1, `animal-store: Port ${port} is in use. Set PORT to another one.\n`]);
  });

  it.each(["x", "-1", "65536", "1.5"])("when its port is %s", async (PORT) => {
    expect(await failed({ PORT })).toEqual({
      code: 1,
      output: "animal-store: PORT must be a number from 0 to 65535.\n",
    });
  });

  it("when it has no privileges for its port", async () => {
    const { code, output } = await failed({ PORT: "1" }, ["--import", denyPrivilegedPorts]);
    expect([code, output]).toEqual([
      1,
      "animal-store: Port 1 needs privileges that this user does not have. Set PORT to one above 1023.\n",
    ]);
  });

  it("when its data is corrupt", async () => {
    await mkdir(join(folder, "dynamodb"));
    await writeFile(join(folder, "dynamodb", "CURRENT"), "garbage");
    const { code, output } = await failed({});
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(`The data folder ${folder}/dynamodb cannot be opened: `),
    ]);
    oneLine(output);
  });

  it("when its data cannot be written", async () => {
    await writeFile(join(folder, "file"), "");
    const DATA_DIR = join(folder, "file", "data");
    expect(await failed({ DATA_DIR })).toEqual({
      code: 1,
      output: `animal-store: The data folder ${DATA_DIR} cannot be written (ENOTDIR): does its parent exist, and is it writable?\n`,
    });
  });

  it("when its data is in use by another instance", async () => {
    const store = await startStore(join(folder, "dynamodb"));
    ends.push(store.close);
    const { code, output } = await failed({});
    expect([code, output]).toEqual([
      1,
      `animal-store: The data folder ${folder}/dynamodb is in use by another process.\n`,
    ]);
  });

  it("when its DynamoDB server does not respond", async () => {
    const store = await startStore();
    await store.close();
    const { code, output } = await failed({ AWS_ENDPOINT_URL_DYNAMODB: store.endpoint });
    expect(code).toBe(1);
    expect(output).toContain(`The DynamoDB endpoint ${store.endpoint} cannot be used: `);
    oneLine(output);
  });
});
