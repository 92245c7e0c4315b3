import { once } from "node:events";
import { createServer, request } from "node:http";
import { text } from "node:stream/consumers";
import { createContext, runInContext } from "node:vm";
import { afterAll, expect, it } from "@jest/globals";
import { generateApiKey } from "../../lib/api-key.ts";
import { docsPage } from "../../openapi/docs-page.ts";
import { openApiDocument } from "../../openapi/document.ts";
import { listen } from "../support/listen.ts";

const key = generateApiKey("local");
const docs = docsPage(key, "v1");
const server = createServer((...call) => void (docs(...call) || call[1].writeHead(404).end()));
const { origin, close } = await listen(server);
afterAll(close);
/** Sends a request with its path and Host unchanged. */
async function send(path: string, { host = "localhost", method = "GET" } = {}) {
  const [response] = await once(request(origin, { path, method, headers: { host } }).end(), "response");
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

it("has the key in HTML only, and no other site can read, frame or load it", async () => {
  const html = await (await fetch(origin)).text();
  const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => `/docs/${name}`);
  for (const path of ["/", "/docs", "/docs/?x=1", "/docs/openapi.json", ...loaded]) {
    const { status, headers, body } = await send(path);
    expect({ path, status }).toEqual({ path, status: /^\/(docs)?$/.test(path) ? 308 : 200 });
    expect(await send(path, { method: "HEAD" })).toMatchObject({ status, body: "" });
    expect(body.split(key)).toHaveLength(path === "/docs/?x=1" ? 2 : 1);
    expect(headers["content-security-policy"]).toMatch(/^default-src 'self'; .* frame-ancestors 'none'$/);
    expect(headers).toMatchObject({ "cross-origin-resource-policy": "same-origin" });
  }
  const document = JSON.parse((await send("/docs/openapi.json", { host: "127.0.0.1:1" })).body);
  const servers = [expect.objectContaining({ url: "http://127.0.0.1:1/v1" })];
  expect(document).toEqual({ ...openApiDocument(), servers });
});

it("has no other file, and responds to no name but those of this machine", async () => {
  const hosts = ["evil.example", "localhost.evil.example", "localhost:1@evil.example", "127a0b0c1"];
  for (const other of [...hosts.map((host) => ({ host })), { method: "POST" }])
    expect((await send("/docs/", other)).status).toBe(404);
  for (const path of ["/docs/../package.json", "/docs/swagger-ui.js", "/docsx"])
    expect((await send(path)).status).toBe(404);
});

it("reads and writes the digits of an int64", async () => {
  const context = createContext();
  runInContext((await send("/docs/exact-integers.js")).body, context);
  for (const body of [`{"id":${2n ** 63n - 1n}}`, `[${-(2n ** 63n)},${2n ** 53n + 1n},0,1.5,"1"]`])
    expect(runInContext(`JSON.stringify(JSON.parse('${body}'))`, context)).toBe(body);
});
