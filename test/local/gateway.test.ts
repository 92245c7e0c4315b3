import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { type LocalStack, readStack } from "../../infra/assembly/template.ts";
import { FunctionPool } from "../../local/function-pool.ts";
import { createGateway } from "../../local/gateway.ts";
import { Throttle } from "../../local/throttle.ts";

jest.spyOn(console, "error").mockImplementation(() => undefined);

// Functions that go wrong in every way, under the real template's routes and gateway responses.
const listPets = `
  let calls = 0;
  exports.handler = async (event) => {
    calls++;
    const query = event.queryStringParameters ?? {};
    if (query.do === "exit") process.exit(1);
    if (query.do === "hang") for (;;);
    if (query.do === "wait") await new Promise(() => {});
    if (query.do === "throw") throw new Error("secret");
    if (query.do === "nothing") return undefined;
    if (query.do === "nonsense") return { statusCode: "x" };
    return { statusCode: 200, headers: { "X-Own": "1" }, body: JSON.stringify({ event, env: process.env, pid: process.pid }) };
  };`;
const authorize = `
  let calls = 0;
  exports.handler = async ({ authorizationToken, methodArn }) => {
    calls++;
    const rest = authorizationToken.slice(-1);
    if (rest === "f") throw new Error("no database");
    if (rest === "n") return null;
    const Effect = rest === "d" ? "Deny" : "Allow", Resource = rest === "m" ? methodArn : "arn:aws:execute-api:*/v1/*";
    return {
      principalId: "p",
      policyDocument: { Version: "2012-10-17", Statement: [{ Effect, Action: "execute-api:Invoke", Resource }] },
      context: { keyId: "key_1", calls },
    };
  };`;

let folder: string;
let server: Server;
let base: string;
let pools: FunctionPool[];
let stack: LocalStack;
let byName: Map<string, FunctionPool>;

const listen = async (gateway: Server) => {
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/v1`;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "animal-store-gateway-"));
  await writeFile(join(folder, "list.js"), listPets);
  await writeFile(join(folder, "auth.js"), authorize);
  stack = readStack(process.env.TEST_ASSEMBLY ?? "", "animal-store-staging");
  const pool = (name: string, handler: string) =>
    new FunctionPool(
      { name, code: folder, handler, environment: { OWN: name }, timeoutMs: 4000, memoryMb: 64 },
      { AWS_REGION: "local" },
    );
  const list = stack.routes.find(({ method, path }) => method === "GET" && path === "/pets")?.integration;
  const listName = list?.type === "AWS_PROXY" ? list.functionName : "";
  byName = new Map([
    [listName, pool("list", "list.handler")],
    [stack.authorizer.functionName, pool("auth", "auth.handler")],
  ]);
  pools = [...byName.values()];
  server = createGateway({ ...stack, authorizer: { ...stack.authorizer, cacheSeconds: 2 } }, byName);
  base = await listen(server);
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  for (const pool of pools) pool.stop();
  await rm(folder, { recursive: true });
});

const token = (last: string) => `Bearer ask_local_${"0".repeat(32)}${last}`;
const get = (path: string, last = "a", headers: Record<string, string> = {}) =>
  fetch(base + path, { headers: { Authorization: token(last), ...headers } });
const json = async (response: Response) => (await response.json()) as Record<string, never>;

describe("a function", () => {
  it.each(["exit", "hang", "wait", "throw", "nothing", "nonsense"])(
    "that goes wrong (%s) makes a 500 Error, and the service goes on",
    async (fault) => {
      const replies = await Promise.all([get(`/pets?do=${fault}`), get(`/pets?do=${fault}`), get("/pets")]);
      expect(replies.map(({ status }) => status)).toEqual([500, 500, 200]);
      expect(await replies[0]?.json()).toEqual({
        code: "internal_error",
        message: "Something went wrong on our side.",
        status: 500,
      });
      const after = await Promise.all(Array.from({ length: 8 }, () => get("/pets")));
      expect(after.every(({ status }) => status === 200)).toBe(true);
    },
  );

  it("has no environment but its own", async () => {
    const { env } = await json(await get("/pets"));
    expect(env).toEqual({ AWS_REGION: "local", OWN: "list" });
  });

  it("serves one event at a time and as many instances as there is need for, up to four", async () => {
    const replies = await Promise.all(Array.from({ length: 40 }, () => get("/pets").then(json)));
    expect(new Set(replies.map(({ pid }) => pid)).size).toBeLessThanOrEqual(4);
  });
});

describe("an event", () => {
  it("is as API Gateway's proxy integration makes it", async () => {
    const headers = { "X-MiXed": "1", "X-Forwarded-Proto": "gopher", "X-Forwarded-For": "6.6.6.6" };
    const response = await get("/pets/?a=1&a=2&b=x%20y+z&__proto__=1", "a", headers);
    const { event } = await json(response);
    expect(event).toMatchObject({
      resource: "/pets",
      path: "/pets",
      httpMethod: "GET",
      pathParameters: null,
      body: null,
      isBase64Encoded: false,
      requestContext: {
        stage: "v1",
        path: "/v1/pets",
        domainName: base.slice(7, -3),
        authorizer: { keyId: "key_1" },
      },
    });
    const { queryStringParameters, multiValueQueryStringParameters, headers: seen } = event as never;
    expect(JSON.stringify(queryStringParameters)).toBe('{"a":"2","b":"x y z","__proto__":"1"}');
    expect(JSON.stringify(multiValueQueryStringParameters)).toBe(
      '{"a":["1","2"],"b":["x y z"],"__proto__":["1"]}',
    );
    expect(seen).toMatchObject({ "X-Forwarded-Proto": "http", "X-Forwarded-For": "127.0.0.1" });
    expect(response.headers.get("x-own")).toBe("1");
  });
});

describe("the authorizer", () => {
  it.each([
    ["d", 401, "unauthorized"],
    ["f", 503, "unavailable"],
    ["n", 500, "internal_error"],
  ])("that ends with %s makes a %d %s", async (last, status, code) => {
    const response = await get("/pets", last);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code, status });
  });

  it("is not asked for a token that cannot be a key", async () => {
    const response = await fetch(`${base}/pets`, { headers: { Authorization: "Bearer f" } });
    expect(response.status).toBe(401);
  });

  it("has its policy cached by the token, for every method and path", async () => {
    const call = async () => {
      const { event } = await json(await get("/pets", "c"));
      return (event as unknown as { requestContext: { authorizer: { calls: number } } }).requestContext
        .authorizer.calls;
    };
    const calls = await call();
    expect(await call()).toBe(calls);
    // After its time the function is asked again.
    await new Promise((resolve) => setTimeout(resolve, 2100));
    expect(await call()).toBe(calls + 1);
    // A policy for one method alone is kept as well, and then closes the others.
    expect((await get("/pets", "m")).status).toBe(200);
    expect((await get("/pets/1", "m")).status).toBe(401);
  });
});

describe("the gateway", () => {
  /** Sends bytes as they are and returns all that comes back. */
  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      let reply = "";
      const socket = connect(Number(new URL(base).port), "127.0.0.1", () => socket.write(text));
      socket.setTimeout(5000, () => socket.destroy(new Error("The server kept the connection open.")));
      socket.on("data", (chunk) => {
        reply += chunk;
      });
      socket.on("error", reject).on("close", () => resolve(reply));
    });

  const start = "POST /v1/pets HTTP/1.1\r\nHost: a\r\n";
  it.each([
    ["no request line", "NONSENSE\r\n\r\n"],
    ["a tunnel", "CONNECT /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["an unknown transfer coding", `${start}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ["no Host", "GET /v1/pets HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["two Hosts", "GET /v1/pets HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n"],
    ["a length and chunks", `${start}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["two lengths", `${start}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
    ["a space in a header's name", `${start}Bad Header: x\r\n\r\n`],
    ["100 kB of headers", `${start}X: ${"x".repeat(100_000)}\r\n\r\n`],
  ])("answers what is no HTTP with a 400 Error: %s", async (_what, text) => {
    const reply = await raw(text);
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(reply.slice(reply.indexOf("\r\n\r\n") + 4))).toMatchObject({
      code: "invalid_request",
      status: 400,
    });
  });

  it("answers an Error to an expectation that it does not know", async () => {
    const reply = await raw(
      "GET /v1/pets HTTP/1.1\r\nHost: a\r\nExpect: the-unexpected\r\nConnection: close\r\n\r\n",
    );
    expect(reply).toMatch(/^HTTP\/1\.1 401 /);
  });

  it("answers 413 to a body over 10 MB", async () => {
    const status = await new Promise((resolve, reject) => {
      const sent = request(
        `${base}/pets`,
        { method: "POST", headers: { Authorization: token("a") } },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      sent.on("error", reject);
      sent.end(Buffer.alloc(10 * 1024 * 1024 + 1));
    });
    expect(status).toBe(413);
  });

  it("knows no stage but its own", async () => {
    const origin = new URL(base).origin;
    for (const path of ["/", "/pets", "/v2/pets", "/v1x/pets", "//v1/pets"]) {
      expect((await fetch(origin + path)).status).toBe(404);
    }
  });

  it("refuses a burst beyond its throttle before the authorizer is asked, and goes on afterwards", async () => {
    const settings = { rate: stack.throttling.rate, burst: 5 };
    expect(settings.rate).toBe(50);
    expect(stack.throttling.burst).toBe(100);
    let now = 0;
    const throttled = createGateway(stack, byName, { throttle: new Throttle(settings, () => now) });
    const url = `${await listen(throttled)}/pets`;
    try {
      const replies = await Promise.all(Array.from({ length: 12 }, () => fetch(url)));
      const [refused] = replies.filter(({ status }) => status === 429);
      expect(replies.map(({ status }) => status).sort()).toEqual([
        ...Array(5).fill(401),
        ...Array(7).fill(429),
      ]);
      expect(refused?.headers.get("retry-after")).toBe("1");
      expect(await refused?.json()).toEqual({
        code: "too_many_requests",
        message: "Too many requests. Try again after the time given in Retry-After.",
        status: 429,
      });
      now += 1000;
      expect((await fetch(url)).status).toBe(401);
    } finally {
      throttled.closeAllConnections();
      throttled.close();
    }
  });
});
