import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { DRAIN_TIMEOUT_MS, HttpServer } from "../../../emulator/gateway/server.ts";
import { occurs } from "../../support/eventually.ts";
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
  server.keepAliveTimeout = 0;
  await listen(server);
});

afterEach(() => {
  jest.useRealTimers();
  for (const socket of sockets) socket.destroy();
  server.closeAllConnections();
  server.close();
});

async function send(sent: string): Promise<Socket> {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  socket.on("error", () => undefined);
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(sent);
  return socket;
}

const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

async function receives(...paths: string[]): Promise<void> {
  while (received.map(({ message }) => message.url).join() !== paths.join())
    await occurs(`the requests ${paths} arrive`, server, "received");
}

const respond = (body = "") => received.shift()?.response.end(body);

it("refuses more than 10,240 bytes of headers", async () => {
  const socket = await send(get("/", `X-A: ${"a".repeat(10_240)}\r\n`));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 431 /);
  expect(received).toEqual([]);
  await send(get("/", `X-A: ${"a".repeat(10_200)}\r\n`));
  await receives("/");
});

describe("a drain", () => {
  it("closes connections without a complete request at once, and the others after their responses", async () => {
    const others = [await send(""), await send("GET / HTTP/1.1\r\nHost:"), await send(get("/done"))];
    await receives("/done");
    respond();
    const busy = await send(get("/1") + get("/2"));
    await receives("/1", "/2");
    const started = await send(get("/started"));
    await receives("/1", "/2", "/started");
    const half = received.pop()?.response;
    half?.write("half");
    await occurs("half of a response arrives", started, "data");

    jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] });
    const drained = server.drain();
    const closes = "a drain closes a connection without a complete request";
    await Promise.all(others.map((socket) => occurs(closes, socket.resume(), "close")));
    respond("first");
    respond("second");
    const responses = (await text(busy)).split("first");
    expect(responses[0]).toContain("Connection: keep-alive");
    expect(responses[1]).toMatch(/Connection: close\r\n(.+\r\n)*\r\nsecond$/);
    half?.end();
    await occurs("a drain closes a connection after its response", started, "close");
    await drained;
  });

  it("delivers a response that is written", async () => {
    const slow = await send(get("/large"));
    await receives("/large");
    const body = "a".repeat(20_000_000);
    respond(body);
    const [drained, delivered] = [server.drain(), text(slow)];
    expect((await delivered).endsWith(`\r\n\r\n${body}`)).toBe(true);
    await drained;
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
    expect(socket?.destroyed).toBe(true);
    await drained;
  });
});
