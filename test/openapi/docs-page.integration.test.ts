import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { createContext, runInContext } from "node:vm";
import { afterAll, describe, expect, it, jest } from "@jest/globals";
import fc from "fast-check";
import { generateApiKey } from "../../lib/api-key.ts";
import { INT64_MAX, INT64_MIN } from "../../lib/int64.ts";
import { docsPage } from "../../openapi/docs-page.ts";
import { openApiDocument } from "../../openapi/document.ts";
import { listen } from "../support/listen.ts";

const key = generateApiKey("local");
const docs = docsPage(key, "v1");
const server = createServer((message, response) => {
  if (!docs(message, response)) response.writeHead(404).end("not a docs page");
});
const { origin, close } = await listen(server);
afterAll(close);

/** Sends a request of another site, with its path and Host unchanged. `fetch` would normalize both. */
async function sendRaw(path: string, { host = "localhost", method = "GET" } = {}) {
  const headers = { host, origin: "https://evil.example" };
  const sent = request(origin, { path, method, headers }).end();
  const [response] = await once(sent, "response");
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** The files that a page loads. */
const loadedBy = (html: string) =>
  [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name ?? "");

describe("the docs page", () => {
  it("is at /docs and /, with the local key in its HTML", async () => {
    for (const path of ["", "/docs"]) {
      const response = await fetch(origin + path);
      expect(response).toMatchObject({ status: 200, url: `${origin}/docs/` });
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(await response.text()).toContain(` id="docs" data-key="${key}"`);
    }
  });

  it("loads files of the right types, without the key", async () => {
    const image = "favicon-32x32.png";
    const scripts = loadedBy(await (await fetch(origin)).text());
    expect(scripts).toContain("page.js");
    const types: Record<string, string> = {
      ...Object.fromEntries(scripts.map((name) => [name, "text/javascript; charset=utf-8"])),
      "swagger-ui.css": "text/css; charset=utf-8",
      "page.css": "text/css; charset=utf-8",
      [image]: "image/png",
      "openapi.json": "application/json",
    };
    const file = createRequire(import.meta.url).resolve(`swagger-ui-dist/${image}`);
    expect(Buffer.from(await (await fetch(`${origin}/docs/${image}`)).arrayBuffer())).toEqual(
      await readFile(file),
    );
    for (const [name, type] of Object.entries(types)) {
      const { headers, body } = await sendRaw(`/docs/${name}`);
      expect({ name, type: headers["content-type"] }).toEqual({ name, type });
      expect(body).not.toContain(key);
    }
  });

  it("offers only the service that serves it", async () => {
    for (const host of ["localhost:1234", "127.0.0.1:1234", "LOCALHOST", "127.0.0.1"]) {
      const servers = [{ url: `http://${host}/v1`, description: "This service" }];
      const { body } = await sendRaw("/docs/openapi.json", { host });
      expect(JSON.parse(body)).toEqual({ ...openApiDocument(), servers });
    }
  });

  it("cannot be read, framed or loaded by another site, and loads nothing from elsewhere", async () => {
    for (const path of ["/docs", "/docs/?x=1", "/docs/openapi.json"]) {
      const { headers } = await sendRaw(path);
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        "content-security-policy":
          "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      });
    }
  });

  const names = ["../package.json", "..%2fpackage.json", "swagger-ui.js", "__proto__"];
  const hosts = ["localhost.evil.example", "localhost:1@evil.example", "evil-localhost", "127a0b0c1"];
  it.each([
    ...[...names.map((name) => `/docs/${name}`), "/docsx", "/page/index.html"].map((path) => ({ path })),
    ...["POST", "HEAD"].map((method) => ({ path: "/docs/", method })),
    // An attacker can resolve a name of its own to this machine.
    ...["evil.example", ...hosts].flatMap((host) =>
      ["/docs", "/docs/", "/docs/openapi.json"].map((path) => ({ path, host })),
    ),
  ])("does not respond to %j", async ({ path, ...request }) => {
    expect(await sendRaw(path, request)).toMatchObject({ status: 404 });
  });
});

describe("the scripts of the page", () => {
  /** Runs a script as the browser does. @returns the page's global variables */
  const run = async (name: string) => {
    const window = createContext({});
    window.window = window;
    runInContext(await (await fetch(`${origin}/docs/${name}`)).text(), window);
    return window;
  };

  it("read and write every int64 digit for digit", async () => {
    const { JSON: exact } = runInContext("({ JSON })", await run("exact-integers.js"));
    fc.assert(
      fc.property(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), (integer) => {
        const body = `{"id":${integer},"name":"${integer}"}`;
        expect(exact.stringify(exact.parse(body))).toBe(body);
      }),
      { examples: [[INT64_MIN], [INT64_MAX]] },
    );
  });

  it("send a pasted key without its scheme, and refuse any other text", async () => {
    const { checkKeys } = await run("plugins.js");
    const errActions = { clear: () => {}, newAuthErr: jest.fn() };
    const authorize = jest.fn();
    const { authorize: wrapped } = checkKeys().statePlugins.auth.wrapActions;
    const paste = (value: string) => wrapped(authorize, { errActions })({ apiKey: { schema: {}, value } });
    for (const text of [key, `Bearer ${key}`, ` bearer  ${key}\n`]) paste(text);
    const sent = { apiKey: { name: "apiKey", schema: {}, value: key } };
    expect(authorize.mock.calls).toEqual([[sent], [sent], [sent]]);
    for (const text of ["", "Bearer", `${key}x`, key.slice(0, -1)]) paste(text);
    expect(authorize).toHaveBeenCalledTimes(3);
    expect(errActions.newAuthErr).toHaveBeenCalledTimes(4);
  });
});
