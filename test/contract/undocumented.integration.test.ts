import { afterAll, afterEach, expect, it } from "@jest/globals";
import { disconnect, send } from "../support/http.ts";
import { shared } from "../support/shared.ts";

// What API Gateway responds to these requests is not documented (docs/aws-assumptions.md). Whatever it is, a wrong request has
// no success that does harm, and no response repeats a header or has a stack trace.

const pet = '{"name":"Undocumented","categoryId":1}';
const json = { "Content-Type": "application/json" };

// The service has survived the request.
afterEach(async () => {
  expect((await send(shared.baseUrl, { path: "/pets?limit=1", key: shared.key })).status).toBe(200);
});
afterAll(disconnect);

it.each<[request: string, harmless?: number, headers?: Record<string, string>, body?: string]>([
  ["GET /pets/%ff"],
  ["GET /pets/%00"],
  ["GET /pets/%31%"],
  ["GET /pets/%2e%2e%2f", 200],
  ["GET /..%2fpets", 200],
  ["GET /pets?cursor=%ff", 200],
  ["GET /pets?cursor=%", 200],
  ["GET /pets?cursor=%0d%0aSet-Cookie:x=y", 200],
  ["GET /pets", 0, { Authorization: "Bearer other", authorization: `Bearer ${shared.key}` }],
  ["GET /pets", 0, { Authorization: `Bearer ${"x".repeat(5000)}` }],
  ["GET /store/orders", 0, { Authorization: "AWS4-HMAC-SHA256 Credential=x" }],
  ["POST /pets", 201, {}, pet],
  ["POST /pets", 201, { ...json, "Idempotency-Key": "" }, pet],
  ["POST /pets", 201, json, `\uFEFF${pet}`],
  ["POST /pets", 0, json, pet.padEnd(7 * 2 ** 20)],
])("%s leaks nothing, and does no harm", async (line, harmless = 0, own = {}, body = "") => {
  const [method = "", path = ""] = line.split(" ");
  const headers = Object.entries({ Authorization: `Bearer ${shared.key}`, ...own });
  const sent = send(shared.baseUrl, { method, path, headers, ...(body && { body }) });
  const response = await sent.catch(() => undefined); // a closed connection is an answer, too
  if (!response) return;
  if (response.status < 400) expect(response.status).toBe(harmless);
  const received = JSON.stringify([...response.headers]) + response.text;
  for (const [, value] of headers.filter(([name]) => name !== "Content-Type"))
    if (value) expect(received).not.toContain(value.split(" ").at(-1));
  expect(received).not.toMatch(/\bat \S.*:\d+:\d+|"(stackTrace|errorType)"/);
});
