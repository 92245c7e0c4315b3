import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { afterAll, afterEach, expect, it, jest } from "@jest/globals";
import { servedStackName } from "../../../../infra/stages.ts";
import { KEY_PREFIX } from "../../../../lib/api-key.ts";
import { errorBody } from "../../../../lib/errors.ts";
import { API_VERSION } from "../../../../lib/operation.ts";
import type { Invoke } from "../../../../tools/emulator/functions.ts";
import { createGateway, type HandledRequest } from "../../../../tools/emulator/gateway/gateway.ts";
import { EVENT_LIMIT } from "../../../../tools/emulator/gateway/request.ts";
import { readStack } from "../../../../tools/emulator/template/template.ts";
import { disconnect, send } from "../../../support/http.ts";
import { listen } from "../../../support/listen.ts";
import { shared } from "../../../support/shared.ts";

const echo = async (event: object): Promise<unknown> => ({ statusCode: 200, body: JSON.stringify(event) });
const operation = jest.fn(echo);
const authorize = jest.fn(async () => ({
  principalId: "p",
  policyDocument: { Statement: [{ Effect: "Allow", Resource: "*" }] },
  context: { keyId: "key_1" },
}));
const stack = readStack(shared.assembly, servedStackName);
const invoke: Invoke = (name, event) =>
  name === stack.authorizer.functionName ? authorize() : operation(event);
const onRequest = jest.fn<(request: HandledRequest) => void>();
const { origin, close } = await listen(createServer(createGateway(stack, invoke, onRequest)));
afterEach(() => void jest.restoreAllMocks());
afterAll(async () => {
  disconnect();
  await close();
});

const baseUrl = `${origin}/${API_VERSION}`;
// The gateway caches a policy for each key.
const key = (last: string) => `${KEY_PREFIX}_local_${"0".repeat(32)}${last}`;
const get = (path: string, last = "a") =>
  fetch(baseUrl + path, { headers: { Authorization: `Bearer ${key(last)}` } });
const post = { method: "POST", path: "/pets", key: key("a") };

it("an event has every value that a client sent, and the context of the authorizer", async () => {
  const headers = Object.entries({ "content-type": "text/plain", "X-Forwarded-Proto": "gopher" });
  const path = "/pets/?a=1&a=2&b=x%20y+z&__proto__=1";
  const body = Buffer.from([0xff]); // not UTF-8
  const { text, headers: received } = await send(baseUrl, { ...post, path, headers, body });
  const event = JSON.parse(text);
  expect(event).toMatchObject({
    resource: "/pets",
    path: "/pets/",
    httpMethod: "POST",
    multiValueHeaders: { "content-type": ["application/json", "text/plain"], "x-forwarded-proto": ["http"] },
    requestContext: {
      requestId: received.get("x-amzn-requestid"),
      extendedRequestId: received.get("x-amz-apigw-id"),
      authorizer: { keyId: "key_1", principalId: "p" },
    },
    body: "\uFFFD",
    isBase64Encoded: false,
  });
  for (const tunnels of [["https"], ["HTTPS, http"], ["https", "http"]]) {
    const headers = tunnels.map((scheme): [string, string] => ["X-Forwarded-Proto", scheme]);
    const tunneled = await send(baseUrl, { ...post, headers });
    expect(JSON.parse(tunneled.text).multiValueHeaders["x-forwarded-proto"]).toEqual(["https"]);
  }
  const query = JSON.stringify(event.multiValueQueryStringParameters);
  expect(query).toBe('{"a":["1","2"],"b":["x y z"],"__proto__":["1"]}');
});

it("responds 503 to a failure or invalid result, and 500 to its own error", async () => {
  const error = jest.spyOn(console, "error").mockImplementation(() => undefined);
  authorize.mockRejectedValueOnce(new Error("failed"));
  expect(await (await get("/pets/7", "f")).json()).toEqual(errorBody("unavailable"));
  const [request] = onRequest.mock.lastCall ?? [];
  expect(request).toMatchObject({ method: "GET", url: `/${API_VERSION}/pets/7`, status: 503, caller: {} });
  operation.mockRejectedValueOnce(new Error("failed"));
  for (const result of [undefined, { statusCode: 103, body: "" }, { statusCode: 200 }])
    operation.mockResolvedValueOnce(result);
  for (let n = 0; n < 4; n++) expect(await (await get("/pets")).json()).toEqual(errorBody("unavailable"));
  expect(error).not.toHaveBeenCalled();
  operation.mockImplementationOnce(() => {
    throw new Error("broken");
  });
  expect(await (await get("/pets/1")).json()).toEqual(errorBody("internal_error"));
  expect(error).toHaveBeenCalledWith(new Error("broken"));
  operation.mockResolvedValueOnce({ statusCode: 200, body: "", headers: { Link: "a\nb" } });
  expect(await (await get("/pets/1")).json()).toEqual(errorBody("internal_error"));
});

it.each([
  [401, 0, ""],
  [413, EVENT_LIMIT + 1, `Authorization: Bearer ${key("a")}\r\n`],
])("responds %i after %i bytes of a body, and reads the rest", async (status, sent, headers) => {
  const rest = 2 ** 21;
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  const head = `POST /${API_VERSION}/pets HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}`;
  socket.write(`${head}Content-Length: ${sent + rest}\r\n\r\n`);
  socket.write(Buffer.alloc(sent));
  const [response] = await once(socket, "data");
  expect(String(response)).toMatch(`HTTP/1.1 ${status} `);
  socket.end(Buffer.alloc(rest));
  // Otherwise, the connection is reset, and a client cannot read the response.
  await once(socket, "close");
});

it("responds to a 204 with a Content-Type, as API Gateway does, and without a length", async () => {
  operation.mockResolvedValueOnce({ statusCode: 204, body: "" });
  const { headers } = await get("/pets");
  expect([headers.get("content-type"), headers.get("content-length")]).toEqual(["application/json", null]);
});
