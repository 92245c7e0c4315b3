import { describe, expect, it } from "@jest/globals";
import { call, post } from "./client.ts";

describe("POST /pets", () => {
  it.each([
    "",
    "{",
    "nul",
    "{'name':'Rex','categoryId':1}",
    '{"name":"Rex","categoryId":1,}',
    '{"name":"Rex","categoryId":01}',
    '{"name":"Rex\n","categoryId":1}',
    "[".repeat(8000),
    `${'{"a":'.repeat(2000)}1${"}".repeat(2000)}`,
    "[]",
    "null",
    '{"name":"Rex"}',
    '{"categoryId":1}',
    '{"__proto__":{"name":"Rex","categoryId":1}}',
    '{"name":null,"categoryId":1}',
    '{"name":1,"categoryId":1}',
    '{"name":"","categoryId":1}',
    `{"name":"${"x".repeat(257)}","categoryId":1}`,
    '{"name":"\\ud83d","categoryId":1}',
    '{"name":"\\udc00\\ud800","categoryId":1}',
    '{"name":"\\x","categoryId":1}',
    '{"name":"\u0000","categoryId":1}',
    '{"name":"Rex","categoryId":null}',
    '{"name":"Rex","categoryId":"1"}',
    '{"name":"Rex","categoryId":1.5}',
    '{"name":"Rex","categoryId":15e-1}',
    '{"name":"Rex","categoryId":1e999999999}',
    '{"name":"Rex","categoryId":NaN}',
    '{"name":"Rex","categoryId":0x10}',
    '{"name":"Rex","categoryId":9223372036854775808}',
    '{"name":"Rex","categoryId":-9223372036854775809}',
    `{"name":"Rex","categoryId":${"9".repeat(5000)}}`,
    '{"name":"Rex","categoryId":1,"status":null}',
    '{"name":"Rex","categoryId":1,"status":"Available"}',
    '{"name":"Rex","categoryId":1,"status":"lost"}',
  ])("returns 400 to the body %j", async (body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  it("names every invalid field in one response", async () => {
    const { body } = await post('{"name":"","categoryId":"secret","status":"secret"}');
    const { message } = body as { message: string };
    for (const field of ["name", "categoryId", "status"]) expect(message).toContain(`${field} must be`);
    expect(message).not.toContain("secret");
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16"])(
    "returns 415 to a body of type %s",
    async (type) => {
      const reply = await post('{"name":"Rex","categoryId":1}', { "Content-Type": type });
      expect(reply).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
    },
  );

  it("returns 413 to a body over 16 KiB", async () => {
    const body = `{"name":"Rex","categoryId":1,"note":"${"x".repeat(16 * 1024)}"}`;
    expect(await post(body)).toMatchObject({ status: 413, body: { code: "payload_too_large" } });
  });
});

describe("GET /pets", () => {
  it.each([
    "limit=0",
    "limit=101",
    "limit=",
    "limit=1e1",
    "limit=+5",
    "limit=05",
    "limit=%205",
    "limit=99999999999999999999",
    "limit=5&limit=5",
    "status=",
    "status=Sold",
    "status=sold,available",
    "status=sold&status=available",
    "cursor=",
    "cursor=AAAAAAAAAAAAAAAA",
    "cursor=x&cursor=y",
    `cursor=${"A".repeat(4000)}`,
  ])("returns 400 to the query %s", async (query) => {
    expect(await call(`/pets?${query}`)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  it("ignores unknown query parameters", async () => {
    expect((await call("/pets?Limit=0&__proto__=0&id=")).status).toBe(200);
  });
});
