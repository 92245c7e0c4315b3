import { connect } from "node:net";
import { afterAll, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { formatAccessLog } from "../../../emulator/gateway/context.ts";
import { createGateway, type GatewayOptions } from "../../../emulator/gateway/gateway.ts";
import { EVENT_LIMIT } from "../../../emulator/gateway/request.ts";
import { HttpServer } from "../../../emulator/gateway/server.ts";
import { readStack } from "../../../emulator/template/template.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { type ErrorCode, errorBody, errorHeaders, errors } from "../../../lib/errors.ts";
import { API_VERSION } from "../../../lib/operation.ts";
import { occurs } from "../../support/eventually.ts";
import { disconnect, send } from "../../support/http.ts";
import { listen } from "../../support/listen.ts";
import { shared } from "../../support/shared.ts";

const log = jest.fn<GatewayOptions["onRequest"]>();
const onFailure = jest.fn<GatewayOptions["onFailure"]>();

const echo = async (event: string, awsRequestId: string): Promise<unknown> => ({
  statusCode: 200,
  headers: { "X-Own": "1" },
  body: JSON.stringify({ event: JSON.parse(event), awsRequestId }),
});
const operation = jest.fn(echo);
// What a failed test has not used up.
beforeEach(() => void operation.mockReset().mockImplementation(echo));
const authorize = jest.fn(async () => ({
  principalId: "p",
  policyDocument: { Statement: [{ Effect: "Allow", Resource: "*" }] },
  context: { keyId: "key_1", live: true },
}));

const stack = readStack(shared.assembly, servedStackName);
const invoke: GatewayOptions["invoke"] = (name, event, requestId) =>
  name === stack.authorizer.functionName ? authorize() : operation(event, requestId);
const gateway = createGateway(stack, { invoke, onRequest: log, onFailure });
const { origin, close } = await listen(new HttpServer(gateway));
afterAll(async () => {
  disconnect();
  await close();
});

const baseUrl = `${origin}/${API_VERSION}`;

// The gateway caches a policy for each key.
const key = (last: string) => `ask_local_${"0".repeat(32)}${last}`;
const token = (last: string) => `Bearer ${key(last)}`;
const get = (path: string, last = "a", headers: Record<string, string> = {}) =>
  fetch(baseUrl + path, { headers: { Authorization: token(last), ...headers } });
const post = { method: "POST", path: "/pets", key: key("a") };
/** Expects an Error of the gateway, which the client is told to repeat if that can help. */
async function expectError(response: Response, code: ErrorCode) {
  const { status } = response;
  expect({ status, body: await response.json() }).toEqual({
    status: errors[code].status,
    body: errorBody(code),
  });
  expect(response.headers.get("retry-after")).toBe(errorHeaders(code)["Retry-After"] ?? null);
}
const json = async (response: Response) => (await response.json()) as Record<string, never>;

it("an event has the form of API Gateway's proxy integration", async () => {
  const forwarded = { "x-forwarded-proto": "gopher", "X-FORWARDED-FOR": "6.6.6.6", "x-forwarded-port": "1" };
  const sent = { "X-MiXed": "1", ...forwarded };
  const response = await get("/pets/?a=1&a=2&b=x%20y+z&__proto__=1", "a", sent);
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
      extendedRequestId: response.headers.get("x-amz-apigw-id"),
      requestTime: expect.stringMatching(/ \+0000$/),
      stage: API_VERSION,
      resourcePath: "/pets",
      path: `/${API_VERSION}/pets/`,
      httpMethod: "GET",
      protocol: "HTTP/1.1",
      domainName: new URL(origin).host,
      authorizer: { keyId: "key_1", live: true, principalId: "p" },
      identity: { sourceIp: "127.0.0.1", userAgent: "node" },
    },
  });
  const { queryStringParameters, multiValueQueryStringParameters, headers: seen } = event as never;
  expect(JSON.stringify(queryStringParameters)).toBe('{"a":"2","b":"x y z","__proto__":"1"}');
  expect(JSON.stringify(multiValueQueryStringParameters)).toBe(
    '{"a":["1","2"],"b":["x y z"],"__proto__":["1"]}',
  );
  const named = Object.entries(seen).filter(([name]) => /^x-/i.test(name));
  expect(Object.fromEntries(named)).toEqual({
    "X-MiXed": "1",
    "X-Forwarded-Proto": "http",
    "X-Forwarded-For": "127.0.0.1",
    "X-Forwarded-Port": new URL(origin).port,
  });
  expect(response.headers.get("x-own")).toBe("1");
});

it.each([
  ["é", false, "é"],
  [Buffer.from([0xff]), true, "/w=="], // not UTF-8
])("an event has all values of a header, and the body %j with isBase64Encoded: %j", async (...row) => {
  const [sent, isBase64Encoded, body] = row;
  const headers: [string, string][] = [["content-type", "text/plain"]];
  const { text } = await send(baseUrl, { ...post, headers, body: sent });
  expect(JSON.parse(text).event).toMatchObject({
    httpMethod: "POST",
    multiValueHeaders: { "Content-Type": ["application/json"], "content-type": ["text/plain"] },
    requestContext: { httpMethod: "POST", identity: { userAgent: null } },
    isBase64Encoded,
    body,
  });
});

describe("the access log", () => {
  const accessLog = () =>
    JSON.parse(formatAccessLog(stack.accessLogFormat, log.mock.calls.at(-1)?.[0].variables ?? {}));

  it("joins a request with its response and its invocations, and has a value in every field", async () => {
    const response = await get("/pets", "l");
    const { awsRequestId } = await json(response);
    const line = accessLog();
    for (const value of Object.values(line)) expect(String(value)).toMatch(/^[^$]+$/);
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

  it("has the id that a client chose, if it is a UUID, and another one", async () => {
    const chosen = "00000000-0000-4000-8000-000000000000";
    for (const id of [chosen, "x"]) {
      const { headers } = await get("/pets", "n", { "x-amzn-RequestId": id, "x-amz-apigw-id": id });
      const [requestId, extendedRequestId] = [headers.get("x-amzn-requestid"), headers.get("x-amz-apigw-id")];
      expect(accessLog()).toMatchObject({ requestId, extendedRequestId, sourceIp: "127.0.0.1" });
      expect(requestId === id).toBe(id === chosen);
      expect(extendedRequestId).not.toBe(id);
    }
  });

  it("says why a request was refused", async () => {
    authorize.mockRejectedValueOnce(new Error('no "database"'));
    await expectError(await get("/pets/7?limit=8", "f"), "unavailable");
    const refused = { url: `/${API_VERSION}/pets/7?limit=8`, body: JSON.stringify(errorBody("unavailable")) };
    expect(log).toHaveBeenLastCalledWith(expect.objectContaining(refused), stack.accessLogFormat);
    expect(accessLog()).toMatchObject({
      route: "GET /pets/{petId}",
      status: "503",
      authorizerError: 'no "database"',
      error: "AUTHORIZER_CONFIGURATION_ERROR",
    });
  });

  it("has the id of an invocation that failed, and Lambda's status", async () => {
    operation.mockRejectedValueOnce(new Error("secret"));
    for (const result of [undefined, { statusCode: "x", body: "" }, { statusCode: 200 }])
      operation.mockResolvedValueOnce(result);
    for (let n = 0; n < 4; n++) {
      await expectError(await get("/pets"), "unavailable");
      expect(accessLog()).toMatchObject({
        status: "503",
        integrationStatus: "200",
        integrationRequestId: expect.stringMatching(/^[\da-f-]{36}$/),
        error: "INTEGRATION_FAILURE",
      });
    }
  });
});

describe("the gateway", () => {
  it("responds 500 to an error of its own, and says why", async () => {
    const error = new Error("broken");
    operation.mockImplementationOnce(() => {
      throw error;
    });
    await expectError(await get("/pets/1"), "internal_error");
    expect(onFailure.mock.calls).toEqual([[error]]);
  });

  it("responds to a body over Lambda's 6 MB with the template's 413", async () => {
    const respond = (size: number) => send(baseUrl, { ...post, body: Buffer.alloc(size) });
    const { status, text } = await respond(EVENT_LIMIT + 1);
    expect({ status, body: JSON.parse(text) }).toEqual({ status: 413, body: errorBody("payload_too_large") });
    expect((await respond(EVENT_LIMIT)).status).toBe(200);
  });

  it.each([
    [401, 0, ""],
    [413, EVENT_LIMIT + 1, `Authorization: ${token("a")}\r\n`],
  ])("responds %i after %i bytes of a body, and reads the rest", async (status, sent, headers) => {
    const rest = 2 ** 21;
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    const head = `POST /${API_VERSION}/pets HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}`;
    socket.write(`${head}Content-Length: ${sent + rest}\r\n\r\n`);
    socket.write(Buffer.alloc(sent));
    const [response] = await occurs("the gateway responds before the rest", socket, "data");
    expect(String(response)).toMatch(`HTTP/1.1 ${status} `);
    socket.end(Buffer.alloc(rest));
    // Otherwise, the connection is reset, and a client cannot read the response.
    await occurs("the gateway reads the rest", socket, "close");
  });

  it("responds to a 204 without the headers of a body", async () => {
    operation.mockResolvedValueOnce({ statusCode: 204, body: "" });
    const headers = Object.fromEntries((await get("/pets")).headers);
    for (const name of ["content-type", "content-length"]) expect(headers).not.toHaveProperty(name);
  });
});
