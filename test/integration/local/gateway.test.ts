import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, describe, expect, it, jest } from "@jest/globals";
import { errorBody } from "../../../lib/errors.ts";
import { formatAccessLog } from "../../../local/gateway/context.ts";
import { createGateway, type HandledRequest } from "../../../local/gateway/gateway.ts";
import { Throttle } from "../../../local/gateway/throttle.ts";
import type { FunctionPool } from "../../../local/lambda/pool.ts";
import { HttpServer } from "../../../local/server.ts";
import { replaceFunctions } from "../../support/gateway.ts";
import { disconnect, send } from "../../support/http.ts";
import { listen } from "../../support/listen.ts";

const log = jest.fn<(request: HandledRequest) => void>();

const operation = `
  exports.handler = async (event, { awsRequestId }) => event.queryStringParameters?.empty ? { statusCode: 204, body: "" } : event.queryStringParameters?.fault ? undefined : ({
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
    if (last === "h") await new Promise(() => {});
    if (last === "n") return null;
    const Effect = last === "d" ? "Deny" : last === "e" ? "Perhaps" : "Allow";
    const Resource =
      last === "m" ? methodArn : last === "w" ? methodArn.replace("v1", "v.") : ["arn:other", "arn:aws:execute-api:*/v1/*"];
    const Statement = [{ Effect, Action: "execute-api:Invoke", Resource }];
    if (last === "b" || last === "e") Statement.push({ Effect: "Deny", Action: "execute-api:Invoke", Resource: methodArn });
    return {
      principalId: last === "q" ? undefined : "p",
      policyDocument: { Version: "2012-10-17", Statement },
      context: { keyId: last === "o" ? {} : "key_1", calls, live: true },
    };
  };`;

const { stack, functions, operationName, stop } = await replaceFunctions({ operation, authorizer });
const adding = stack.routes.find(({ method }) => method === "POST")?.integration;
if (adding?.type === "AWS_PROXY")
  functions.set(adding.functionName, functions.get(operationName) as FunctionPool);
const cleanUp = [stop];
afterAll(async () => {
  disconnect();
  for (const undo of cleanUp.toReversed()) await undo();
});

/** Serves the template of staging with other settings; returns the origin. */
async function serve(settings: Partial<typeof stack>, throttle?: Throttle): Promise<string> {
  const gateway = createGateway({ ...stack, ...settings }, functions, { log, throttle });
  const { origin, close } = await listen(new HttpServer(gateway));
  cleanUp.push(close);
  return origin;
}

const origin = await serve({ authorizer: { ...stack.authorizer, cacheSeconds: 2 } });
const baseUrl = `${origin}/v1`;

const key = (last: string) => `ask_local_${"0".repeat(32)}${last}`;
const token = (last: string) => `Bearer ${key(last)}`;
const get = (path: string, last = "a", headers: Record<string, string> = {}) =>
  fetch(baseUrl + path, { headers: { Authorization: token(last), ...headers } });
const json = async (response: Response) => (await response.json()) as Record<string, never>;

describe("an event", () => {
  it("has the form of API Gateway's proxy integration", async () => {
    const headers = {
      "X-MiXed": "1",
      "x-forwarded-proto": "gopher",
      "X-FORWARDED-FOR": "6.6.6.6",
      "x-forwarded-port": "1",
    };
    const response = await get("/pets/?a=1&a=2&b=x%20y+z&__proto__=1", "a", headers);
    const { event } = await json(response);
    expect(event).toMatchObject({
      resource: "/pets",
      path: "/pets/",
      httpMethod: "GET",
      pathParameters: null,
      stageVariables: null,
      body: null,
      isBase64Encoded: false,
      requestContext: {
        requestId: response.headers.get("x-amzn-requestid"),
        extendedRequestId: expect.stringMatching(/^[\da-f-]{36}$/),
        requestTime: expect.stringMatching(/ \+0000$/),
        stage: "v1",
        resourcePath: "/pets",
        path: "/v1/pets/",
        httpMethod: "GET",
        protocol: "HTTP/1.1",
        domainName: new URL(origin).host,
        authorizer: { keyId: "key_1", live: true, principalId: "p" },
        identity: { sourceIp: "127.0.0.1", userAgent: "node" },
      },
      headers: { "X-MiXed": "1" },
    });
    const { queryStringParameters, multiValueQueryStringParameters, headers: seen } = event as never;
    expect(JSON.stringify(queryStringParameters)).toBe('{"a":"2","b":"x y z","__proto__":"1"}');
    expect(JSON.stringify(multiValueQueryStringParameters)).toBe(
      '{"a":["1","2"],"b":["x y z"],"__proto__":["1"]}',
    );
    const forwarded = Object.entries(seen).filter(([name]) => /^x-forwarded-/i.test(name));
    expect(Object.fromEntries(forwarded)).toEqual({
      "X-Forwarded-Proto": "http",
      "X-Forwarded-For": "127.0.0.1",
      "X-Forwarded-Port": new URL(origin).port,
    });
    expect(response.headers.get("x-own")).toBe("1");
  });

  it("has a body in base64 when its bytes are not UTF-8", async () => {
    for (const body of ["é", Buffer.from([0xff])]) {
      const { text } = await send(baseUrl, { method: "POST", path: "/pets", key: key("a"), body });
      const isBase64Encoded = body !== "é";
      const httpMethod = "POST";
      expect(JSON.parse(text).event).toMatchObject({
        httpMethod,
        requestContext: { httpMethod, identity: { userAgent: null } },
        isBase64Encoded,
        body: isBase64Encoded ? "/w==" : "é",
      });
    }
  });
});

describe("a request with a repeated header", () => {
  const sendTwice = (header: [string, string]) =>
    send(baseUrl, { path: "/pets", key: key("a"), headers: [header] });

  it("has no valid key if the header is Authorization", async () => {
    expect((await sendTwice(["Authorization", token("a")])).status).toBe(401);
    expect((await sendTwice(["Authorization", ""])).status).toBe(401);
  });

  it("otherwise passes all values to the function", async () => {
    const { text } = await sendTwice(["content-type", "text/plain"]);
    expect(JSON.parse(text).event.multiValueHeaders).toMatchObject({
      "Content-Type": ["application/json"],
      "content-type": ["text/plain"],
    });
  });
});

describe("the authorizer", () => {
  it.each([
    ["denies", "d", 401, "unauthorized"],
    ["both allows and denies", "b", 401, "unauthorized"],
    ["allows another resource", "w", 401, "unauthorized"],
    ["throws Unauthorized", "u", 401, "unauthorized"],
    ["throws anything else", "f", 503, "unavailable"],
    ["exceeds its timeout", "h", 503, "unavailable"],
    ["returns nothing", "n", 503, "unavailable"],
    ["returns no principal", "q", 503, "unavailable"],
    ["returns an invalid policy", "e", 503, "unavailable"],
    ["returns an object in its context", "o", 503, "unavailable"],
  ])("that %s (%s) makes a %d %s", async (_what, last, status, code) => {
    const response = await get("/pets", last);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code, status });
    expect(log).toHaveBeenLastCalledWith(expect.objectContaining({ url: "/v1/pets", errorCode: code }));
  });

  it("is not invoked for a token that cannot be a key", async () => {
    const response = await fetch(`${baseUrl}/pets`, { headers: { Authorization: "Bearer f" } });
    expect(response.status).toBe(401);
  });

  it("has its policy cached by the token for every path, also a denial, but no failure", async () => {
    // A policy for one path only denies the others.
    expect([(await get("/pets", "m")).status, (await get("/pets/1", "m")).status]).toEqual([200, 401]);
    const url = `${await serve({})}/v1/pets`;
    const isInvoked = async (last: string) => {
      await fetch(url, { headers: { Authorization: token(last) } });
      return "authorizer.requestId" in (log.mock.calls.at(-1)?.[0].variables ?? {});
    };
    expect([await isInvoked("d"), await isInvoked("d")]).toEqual([true, false]);
    expect([await isInvoked("n"), await isInvoked("n")]).toEqual([true, true]);
  });
});

it("a path that the API does not have gets without a catch-all route a 404, or AWS's own 403", async () => {
  const routes = stack.routes.filter(({ requiresAuthorization }) => requiresAuthorization);
  const url = `${await serve({ routes })}/v1/nowhere`;
  const without = await fetch(url);
  expect([without.status, await without.json()]).toMatchObject([404, { code: "not_found" }]);
  const response = await fetch(url, { headers: { Authorization: "Bearer secret" } });
  expect(response.status).toBe(403);
  expect(response.headers.get("x-amzn-errortype")).toBe("IncompleteSignatureException");
  expect(await response.json()).toEqual({
    message:
      "'secret' not a valid key=value pair (missing equal-sign) in Authorization header: 'Bearer secret'.",
  });
});

describe("the access log", () => {
  const accessLog = (format = stack.accessLogFormat) =>
    JSON.parse(formatAccessLog(format, log.mock.calls.at(-1)?.[0].variables ?? {}));

  it("joins a request with its response and its invocations, and has a value in every field", async () => {
    const response = await get("/pets", "l");
    const { awsRequestId } = await json(response);
    const line = accessLog();
    for (const value of Object.values(line)) expect(value).toMatch(/^[^$]+$/);
    expect(line).toMatchObject({
      requestId: response.headers.get("x-amzn-requestid"),
      keyId: "key_1",
      route: "GET /pets",
      status: "200",
      integrationRequestId: awsRequestId,
      authorizerRequestId: expect.stringMatching(/^[\da-f-]{36}$/),
      error: "-",
    });
  });

  it("says why a request was refused", async () => {
    await get("/pets/7?limit=8", "f");
    expect(accessLog()).toMatchObject({
      route: "GET /pets/{petId}",
      status: "503",
      authorizerError: 'no "database"',
      error: "AUTHORIZER_CONFIGURATION_ERROR",
    });
  });

  it("has the id of an invocation that failed, Lambda's status, and the status that the code returned", async () => {
    const format = '["$context.integration.integrationStatus","$context.integration.status"]';
    const { headers } = await get("/pets?empty=1");
    expect([headers.get("content-type"), headers.get("content-length")]).toEqual([null, null]);
    expect(accessLog(format)).toEqual(["200", "204"]);
    await get("/pets?fault=1");
    expect(accessLog(format)).toEqual(["200", "-"]);
    expect(accessLog()).toMatchObject({
      status: "503",
      integrationStatus: "200",
      integrationRequestId: expect.stringMatching(/^[\da-f-]{36}$/),
      error: "INTEGRATION_FAILURE",
    });
  });
});

describe("the gateway", () => {
  it("responds 500 to an error of its own, and says why", async () => {
    const error = jest.spyOn(console, "error").mockImplementation(() => undefined);
    const response = await get("/pets/1");
    expect([response.status, await response.json()]).toEqual([500, errorBody("internal_error")]);
    expect(String(error.mock.calls)).toMatch(/^Error: The template has no function GetPet/);
    error.mockRestore();
  });

  it("responds to a body over 10 MB with API Gateway's own 413 in plain text", async () => {
    const body = Buffer.alloc(10 * 1024 * 1024 + 1);
    const { status, text, headers } = await send(baseUrl, {
      method: "POST",
      path: "/pets",
      key: key("a"),
      body,
    });
    expect([status, text]).toEqual([413, "HTTP content length exceeded 10485760 bytes."]);
    expect(headers.get("content-type")).toBe("text; charset=utf-8");
    expect(headers.get("x-amzn-requestid")).toBeNull();
  });

  it("responds 401 before it has received the body, and then reads it, or its client could not read the 401", async () => {
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    const size = 2 ** 21;
    socket.write(`POST /v1/pets HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`);
    const [response] = await once(socket, "data");
    expect(String(response)).toMatch(/^HTTP\/1\.1 401 /);
    socket.end(Buffer.alloc(size));
    await once(socket, "close"); // rejects when the connection was reset
  });

  it("refuses a burst over its throttle before it invokes the authorizer", async () => {
    const throttle = new Throttle({ rate: 1, burst: 5 }, () => 0);
    const url = `${await serve({}, throttle)}/v1/pets`;
    const replies = await Promise.all(Array.from({ length: 12 }, () => fetch(url)));
    const [refused] = replies.filter(({ status }) => status === 429);
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(refused?.headers.get("retry-after")).toBe("1");
    expect(await refused?.json()).toEqual(errorBody("too_many_requests"));
  });
});
