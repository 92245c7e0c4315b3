import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { DRAIN_TIMEOUT_MS, HttpServer, MAX_PIPELINED } from "../../../emulator/gateway/server.ts";
import { listen } from "../../support/listen.ts";

let server: HttpServer;
/** The requests that the listener has received and the test has not responded to. */
let received: { message: IncomingMessage; response: ServerResponse }[];
let sockets: Socket[];

beforeEach(async () => {
  received = [];
  sockets = [];
  server = new HttpServer((message, response) => {
    received.push({ message, response });
    server.emit("received");
  });
  // Only what a test is about closes a connection.
  Object.assign(server, { timeout: 0, keepAliveTimeout: 0 });
  await listen(server);
});

afterEach(() => {
  jest.useRealTimers();
  for (const socket of sockets) socket.destroy();
  server.closeAllConnections();
  server.close();
});

/** Opens a connection and sends text. */
async function send(sent: string): Promise<Socket> {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  socket.on("error", () => undefined);
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(sent);
  return socket;
}

const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

/** Waits until the listener has received requests with these paths. */
async function receives(...paths: string[]): Promise<void> {
  while (received.map(({ message }) => message.url).join() !== paths.join()) await once(server, "received");
}

const respond = (body: string | Buffer = "") => received.shift()?.response.end(body);

describe("the requests of a connection", () => {
  it("are handled one after the other", async () => {
    const socket = await send(get("/0"));
    await receives("/0");
    respond();
    await once(socket, "data");
    const paths = Array.from({ length: MAX_PIPELINED }, (_, n) => `/${n + 1}`);
    socket.write(
      paths.map((path) => get(path, path === paths.at(-1) ? "Connection: close\r\n" : "")).join(""),
    );
    for (const path of paths) {
      await receives(path);
      respond(path);
    }
    expect((await text(socket)).match(/^\/\d+|\/\d+$/gm)).toEqual(paths);
  });

  it("wait until the client has read the last response, and other connections do not", async () => {
    const slow = await send(get("/slow").repeat(3));
    slow.pause();
    await receives("/slow");
    respond(Buffer.alloc(16 * 1024 * 1024)); // more than the operating system buffers
    const other = await send(get("/other", "Connection: close\r\n"));
    await receives("/other");
    respond("done");
    expect(await text(other)).toMatch(/done$/);
    expect(received).toEqual([]);
    slow.resume();
    await receives("/slow");
  });

  it("end the connection when the client sends too many before it has a response", async () => {
    const socket = await send(get("/1").repeat(MAX_PIPELINED + 1));
    await once(socket, "close");
    expect(received).toHaveLength(1);
  });
});

it("refuses more than 10,240 bytes of headers", async () => {
  const socket = await send(get("/", `X-A: ${"a".repeat(10_240)}\r\n`));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 431 /);
  expect(received).toEqual([]);
  await send(get("/", `X-A: ${"a".repeat(10_200)}\r\n`));
  await receives("/");
});

it("ignores an expectation that it does not know", async () => {
  const socket = await send(get("/", "Expect: x\r\nConnection: close\r\n"));
  await receives("/");
  respond();
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
});

describe("a client that lets the service wait", () => {
  /** One connection in each state in which it waits for its client. */
  async function waiting() {
    const unread = await send(get("/unread"));
    unread.pause();
    await receives("/unread");
    respond(Buffer.alloc(16 * 1024 * 1024)); // more than the operating system buffers
    const unfinished = await send(`${get("/unfinished", "Content-Length: 30\r\n")}{`);
    await receives("/unfinished");
    return [unread, unfinished, await send("GET / HTTP/1.1"), await send("")];
  }
  const close = (sockets: Socket[]) =>
    Promise.all(sockets.map((socket) => socket.closed || once(socket.resume(), "close")));

  it("disturbs no other, also when there are 1,000", async () => {
    const idle = await Promise.all(Array.from({ length: 1000 }, () => send("GET / HTTP/1.1")));
    const other = await send(get("/other", "Connection: close\r\n"));
    await receives("/other");
    respond("done");
    expect(await text(other)).toMatch(/done$/);
    expect(idle.filter(({ closed }) => closed)).toEqual([]);
  });

  it("loses its connection after some silence, which is longer than the gateway waits for a function", async () => {
    expect(new HttpServer(() => undefined).timeout).toBeGreaterThan(29_000);
    const accepted: Socket[] = [];
    server.on("connection", (socket) => accepted.push(socket));
    const idle = await waiting();
    for (const socket of accepted) socket.setTimeout(1);
    await close(idle);
  });

  it("loses its connection when its request does not arrive in time", async () => {
    const [, ...unfinished] = await waiting();
    Object.assign(server, { requestTimeout: 1, headersTimeout: 1 });
    await close(unfinished);
  }, 10_000);
});

describe("a drain", () => {
  it("closes connections without a complete request at once, and the others after their responses", async () => {
    const others = [await send(""), await send("GET / HTTP/1.1\r\nHost:"), await send(get("/done"))];
    await receives("/done");
    respond();
    const busy = await send(get("/0") + get("/1") + get("/2"));
    await receives("/0");
    respond();
    const started = await send(get("/started"));
    await receives("/1", "/started");
    const half = received.pop()?.response;
    half?.write("half");
    await once(started, "data");

    jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] });
    const drained = server.drain();
    await Promise.all(others.map((socket) => once(socket.resume(), "close")));
    respond("first");
    await receives("/2");
    respond("second");
    const responses = (await text(busy)).split("first");
    expect(responses[0]).toContain("Connection: keep-alive");
    expect(responses[1]).toMatch(/Connection: close\r\n(.+\r\n)*\r\nsecond$/);
    half?.end();
    await Promise.all([once(started, "close"), drained]);
  });

  it("ends after a limited time", async () => {
    await send(get("/"));
    await receives("/");
    const { socket } = received[0]?.message ?? {};
    jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] });
    const drained = server.drain();
    jest.advanceTimersByTime(DRAIN_TIMEOUT_MS - 1);
    expect(socket?.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    await drained;
    expect(socket?.destroyed).toBe(true);
  });
});
