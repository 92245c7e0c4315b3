import { request } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from "@jest/globals";
import type { StackDefinition } from "../../../local/assembly/template.ts";
import type { FunctionPool } from "../../../local/functions/pool.ts";
import { formatAccessLog } from "../../../local/gateway/context.ts";
import { createGateway, type HandledRequest } from "../../../local/gateway/gateway.ts";
import { Throttle } from "../../../local/gateway/throttle.ts";
import { listen, replaceFunctions } from "../../support/gateway.ts";

const log = jest.fn<(request: HandledRequest) => void>();

const operation = `
  exports.handler = async (event, { awsRequestId }) => ({
    statusCode: 200,
    headers: { "X-Own": "1" },
    body: JSON.stringify({ event, awsRequestId }),
  });`;
// The last character of the token selects what happens.
const authorizer = `
  let calls = 0;
  exports.handler = async ({ authorizationToken, methodArn }) => {
    calls++;
    const last = authorizationToken.slice(-1);
    if (last === "u") throw new Error("Unauthorized");
    if (last === "f") throw new Error('no "database"');
    if (last === "h") for (;;);
    if (last === "n") return null;
    const Effect = last === "d" ? "Deny" : last === "e" ? "Perhaps" : "Allow";
    const Resource = last === "m" ? methodArn : "arn:aws:execute-api:*/v1/*";
    const Statement = [{ Effect, Action: "execute-api:Invoke", Resource }];
    if (last === "b") Statement.push({ Effect: "Deny", Action: "execute-api:Invoke", Resource: methodArn });
    return {
      principalId: "p",
      policyDocument: { Version: "2012-10-17", Statement },
      context: last === "o" ? { keyId: {} } : { keyId: "key_1", calls },
    };
  };`;

let baseUrl: string;
let stack: StackDefinition;
let functions: Map<string, FunctionPool>;
const cleanUp: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const replaced = await replaceFunctions({ operation, authorizer });
  ({ stack, functions } = replaced);
  const server = await listen(
    createGateway({ ...stack, authorizer: { ...stack.authorizer, cacheSeconds: 2 } }, functions, { log }),
  );
  baseUrl = server.baseUrl;
  cleanUp.push(server.close, replaced.stop);
});
beforeEach(() => {
  log.mockClear();
});
afterAll(async () => {
  for (const undo of cleanUp) await undo();
});

const token = (last: string) => `Bearer ask_local_${"0".repeat(32)}${last}`;
const get = (path: string, last = "a", headers: Record<string, string> = {}) =>
  fetch(baseUrl + path, { headers: { Authorization: token(last), ...headers } });
const json = async (response: Response) => (await response.json()) as Record<string, never>;

describe("an event", () => {
  it("has the form of API Gateway's proxy integration", async () => {
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
        requestId: response.headers.get("x-amzn-requestid"),
        stage: "v1",
        path: "/v1/pets",
        domainName: baseUrl.slice(7, -3),
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
    ["denies", "d", 401, "unauthorized"],
    ["both allows and denies", "b", 401, "unauthorized"],
    ["throws Unauthorized", "u", 401, "unauthorized"],
    ["throws anything else", "f", 503, "unavailable"],
    ["exceeds its timeout", "h", 503, "unavailable"],
    ["returns nothing", "n", 503, "unavailable"],
    ["returns an invalid policy", "e", 503, "unavailable"],
    ["returns an object in its context", "o", 503, "unavailable"],
  ])("that %s (%s) makes a %d %s", async (_what, last, status, code) => {
    const response = await get("/pets", last);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code, status });
  });

  it("is not invoked for a token that cannot be a key", async () => {
    const response = await fetch(`${baseUrl}/pets`, { headers: { Authorization: "Bearer f" } });
    expect(response.status).toBe(401);
  });

  it("has its policy cached by the token, for every method and path", async () => {
    const call = async () => {
      const { event } = await json(await get("/pets", "c"));
      return (event as unknown as { requestContext: { authorizer: { calls: number } } }).requestContext
        .authorizer.calls;
    };
    const start = Date.now();
    const clock = jest.spyOn(Date, "now").mockReturnValue(start);
    const calls = await call();
    clock.mockReturnValue(start + 1999);
    expect(await call()).toBe(calls);
    clock.mockReturnValue(start + 2000);
    expect(await call()).toBe(calls + 1);
    clock.mockRestore();
    // A policy for one method only is cached as well, and then denies the others.
    expect((await get("/pets", "m")).status).toBe(200);
    expect((await get("/pets/1", "m")).status).toBe(401);
  });
});

describe("a path that the API does not have", () => {
  let withoutCatchAll: string;
  beforeAll(async () => {
    const routes = stack.routes.filter(({ requiresAuthorization }) => requiresAuthorization);
    const server = await listen(createGateway({ ...stack, routes }, functions, { log }));
    withoutCatchAll = server.baseUrl;
    cleanUp.unshift(server.close);
  });

  it("gets the gateway response for a missing token without an Authorization header", async () => {
    const response = await fetch(`${withoutCatchAll}/nowhere`);
    expect([response.status, await response.json()]).toMatchObject([404, { code: "not_found" }]);
  });

  it("gets AWS's own 403, which repeats the header, with one", async () => {
    const response = await fetch(`${withoutCatchAll}/nowhere`, {
      headers: { Authorization: "Bearer secret" },
    });
    expect(response.status).toBe(403);
    expect(response.headers.get("x-amzn-errortype")).toBe("IncompleteSignatureException");
    expect(await response.json()).toEqual({ message: expect.stringContaining("'Bearer secret'") });
  });

  it.each([undefined, token("a"), "Bearer secret"])(
    "gets a 404 from the catch-all route (%s)",
    async (value) => {
      for (const path of ["", "/", "/nowhere", "/pets/1/2"]) {
        const init = value === undefined ? {} : { headers: { Authorization: value } };
        const response = await fetch(baseUrl + path, init);
        expect([response.status, await response.json()]).toMatchObject([
          404,
          { code: "not_found", status: 404 },
        ]);
      }
    },
  );

  it("gets a 404 outside the stage", async () => {
    const origin = new URL(baseUrl).origin;
    for (const path of ["/", "/pets", "/v2/pets", "/v1x/pets", "//v1/pets"]) {
      expect((await fetch(origin + path)).status).toBe(404);
    }
  });
});

describe("a mock integration", () => {
  it.each([
    ["application/json", 405],
    ["application/json; charset=utf-8", 405],
    ["application/x-www-form-urlencoded", 405],
    ["multipart/form-data; boundary=x", 405],
    ["text/plain", 405],
    ["application/x-unknown", 415],
  ])("responds to a body of type %s with %d", async (type, status) => {
    const headers = { Authorization: token("a"), "Content-Type": type };
    const body = '{"statusCode":200}';
    const response = await fetch(`${baseUrl}/pets`, { method: "PUT", headers, body });
    expect([response.status, await response.json()]).toMatchObject([status, { status }]);
  });

  it("takes a request without a Content-Type for JSON", async () => {
    expect((await fetch(`${baseUrl}/nowhere`, { method: "DELETE" })).status).toBe(404);
  });
});

describe("the access log", () => {
  const names =
    "requestId requestTime httpMethod resourcePath status responseLatency authorizer.keyId authorizer.requestId " +
    "authorizer.error authorizer.latency integration.requestId integration.status error.responseType xrayTraceId";
  const format = JSON.stringify(
    Object.fromEntries(names.split(" ").map((name) => [name, `$context.${name}`])),
  );
  const accessLog = () => JSON.parse(formatAccessLog(format, log.mock.calls.at(-1)?.[0].variables ?? {}));

  it("joins a request with its response and its invocations", async () => {
    const response = await get("/pets", "l");
    const { awsRequestId } = await json(response);
    expect(accessLog()).toEqual({
      requestId: response.headers.get("x-amzn-requestid"),
      requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
      httpMethod: "GET",
      resourcePath: "/pets",
      status: "200",
      responseLatency: expect.stringMatching(/^\d+$/),
      "authorizer.keyId": "key_1",
      "authorizer.requestId": expect.stringMatching(/^[\da-f-]{36}$/),
      "authorizer.error": "-",
      "authorizer.latency": expect.stringMatching(/^\d+$/),
      "integration.requestId": awsRequestId,
      "integration.status": "200",
      "error.responseType": "-",
      xrayTraceId: "-",
    });
  });

  it("says why a request was refused", async () => {
    const response = await get("/pets", "f");
    expect(accessLog()).toMatchObject({
      requestId: response.headers.get("x-amzn-requestid"),
      status: "503",
      "authorizer.error": 'no "database"',
      "integration.requestId": "-",
      "error.responseType": "AUTHORIZER_CONFIGURATION_ERROR",
    });
  });
});

describe("the gateway", () => {
  it("responds 413 to a body over 10 MB", async () => {
    const status = await new Promise((resolve, reject) => {
      const sent = request(
        `${baseUrl}/pets`,
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

  it("refuses a burst over its throttle before it invokes the authorizer, and recovers", async () => {
    const settings = { rate: stack.throttling.rate, burst: 5 };
    expect(settings.rate).toBe(50);
    expect(stack.throttling.burst).toBe(100);
    let now = 0;
    const throttle = new Throttle(settings, () => now);
    const server = await listen(createGateway(stack, functions, { log, throttle }));
    cleanUp.unshift(server.close);
    const url = `${server.baseUrl}/pets`;
    const replies = await Promise.all(Array.from({ length: 12 }, () => fetch(url)));
    const [refused] = replies.filter(({ status }) => status === 429);
    expect(replies.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill(401),
      ...Array(7).fill(429),
    ]);
    expect(refused?.headers.get("retry-after")).toBe("1");
    expect(await refused?.json()).toEqual({
      code: "too_many_requests",
      message: "Too many requests. Retry after the number of seconds in Retry-After.",
      status: 429,
    });
    now += 1000;
    expect((await fetch(url)).status).toBe(401);
  });
});
