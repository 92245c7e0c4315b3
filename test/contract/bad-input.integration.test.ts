import { describe, expect, it } from "@jest/globals";
import { BODY_LIMIT, DEPTH_LIMIT, NAME_LIMIT, PAGE_SIZE } from "../../lib/limits.ts";
import { call, post } from "./client.ts";

const notJson = ["", "{", "nul", "{'name':'Rex','categoryId':1}", '{"name":"Rex","categoryId":1,}'];
const incomplete = ["[]", "null", '{"name":"Rex"}', '{"categoryId":1}'];
const names = ["null", "1", '""', '"\\ud83d"', '"\\udc00\\ud800"', '"\\x"', '"\u0000"', '"Rex\n"'];
const numbers = ["1.5", "15e-1", "01", "1e999999999", "9223372036854775808", "-9223372036854775809"];

describe("POST /pets", () => {
  it.each([
    ...notJson,
    "[".repeat(8000),
    ...incomplete,
    '{"__proto__":{"name":"Rex","categoryId":1}}',
    ...[...names, `"${" ".repeat(NAME_LIMIT)}x"`].map((name) => `{"name":${name},"categoryId":1}`),
    ...["null", '"1"', "NaN", "0x10", ...numbers, "9".repeat(5000)].map(
      (id) => `{"name":"Rex","categoryId":${id}}`,
    ),
    ...["null", '"Available"', '"lost"'].map((status) => `{"name":"Rex","categoryId":1,"status":${status}}`),
  ])("returns 400 to the body %j", async (body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  it("names every invalid field in one response", async () => {
    const { body } = await post('{"name":"","categoryId":"secret","status":"secret"}');
    const { message } = body as { message: string };
    for (const field of ["name", "categoryId", "status"]) expect(message).toContain(`${field} must be`);
    expect(message).not.toContain("secret");
  });

  it.each([0, 1, BODY_LIMIT / 2 - DEPTH_LIMIT - 32])(
    "limits the levels of JSON: the limit and %d",
    async (more) => {
      const [open, end] = ["[", "]"].map((bracket) => bracket.repeat(DEPTH_LIMIT - 1 + more));
      const reply = await post(`{"name":"Rex","categoryId":1,"note":${open}${end}}`);
      const message = expect.stringContaining(`at most ${DEPTH_LIMIT} levels`);
      expect(reply).toMatchObject(more === 0 ? { status: 201 } : { status: 400, body: { message } });
    },
  );

  it("returns 415 to a body of another type", async () => {
    const reply = await post('{"name":"Rex","categoryId":1}', { "Content-Type": "text/plain" });
    expect(reply).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
  });

  it("returns 413 to a body over the limit", async () => {
    const body = `{"name":"Rex","categoryId":1,"note":"${"x".repeat(BODY_LIMIT)}"}`;
    expect(await post(body)).toMatchObject({ status: 413, body: { code: "payload_too_large" } });
  });
});

describe("GET /pets", () => {
  const limits = ["0", PAGE_SIZE.maximum + 1, "", "1e1", "+5", "05", "%205", "9".repeat(20), "5&limit=5"];
  const statuses = ["", "Sold", "sold,available", "sold&status=available"];
  const cursors = ["", "A".repeat(16), "x&cursor=y", "A".repeat(4000)];
  it.each([
    ...limits.map((limit) => `limit=${limit}`),
    ...statuses.map((status) => `status=${status}`),
    ...cursors.map((cursor) => `cursor=${cursor}`),
  ])("returns 400 to the query %s", async (query) => {
    expect(await call(`/pets?${query}`)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });
});
