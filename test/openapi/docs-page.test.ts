import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { buildDocs } from "../../openapi/docs-page.ts";

const origin = new URL(process.env.CONTRACT_URL ?? "").origin;
const key = process.env.CONTRACT_KEY ?? "";

/** Sends a GET with its path and Host unchanged. `fetch` would normalize both. */
function rawGet(path: string, host: string): Promise<{ status: number | undefined; body: string }> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    get({ hostname, port, path, headers: { host } }, (response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, body }));
    }).on("error", reject);
  });
}

describe("the docs page", () => {
  it("is at /docs, with the local key in the HTML and in no file that it loads", async () => {
    const page = await fetch(`${origin}/docs`);
    expect([page.status, page.url]).toEqual([200, `${origin}/docs/`]);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const html = await page.text();
    expect(html).toContain(`data-key="${key}"`);
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name ?? "");
    expect(loaded).toHaveLength(9);
    for (const name of loaded) {
      const file = await fetch(new URL(name, page.url));
      expect([name, file.status]).toEqual([name, 200]);
      expect(await file.text()).not.toContain(key);
    }
  });

  it("offers only the service that serves it", async () => {
    for (const host of ["localhost:1234", "127.0.0.1:1234"]) {
      const { servers, paths } = JSON.parse((await rawGet("/docs/openapi.json", host)).body);
      expect(servers).toEqual([{ url: `http://${host}/v1`, description: "This service" }]);
      expect(Object.keys(paths)).toEqual(["/pets", "/pets/{petId}"]);
    }
  });

  it("cannot be read, framed or loaded by another site, and loads nothing from elsewhere", async () => {
    for (const path of ["/docs", "/docs/", "/docs/page.js", "/docs/openapi.json"]) {
      const { headers } = await fetch(origin + path, {
        headers: { Origin: "https://evil.example" },
        redirect: "manual",
      });
      const names =
        /^(access-control-.*|cache-control|content-security-.*|cross-origin-.*|referrer-policy|x-.*)$/;
      expect(Object.fromEntries([...headers].filter(([name]) => names.test(name)))).toEqual({
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

  it.each([
    "evil.example",
    "evil.example:3000",
    "localhost.evil.example",
    "localhost:1@evil.example",
    "[::1]",
  ])("does not respond to the Host %s, which an attacker could resolve to this machine", async (host) => {
    for (const path of ["/docs", "/docs/", "/docs/openapi.json"]) {
      const { status, body } = await rawGet(path, host);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(body).not.toContain(key);
    }
  });

  it.each([
    "/docs/../package.json",
    "/docs/..%2fpackage.json",
    "/docs//index.html",
    "/docs/swagger-ui.js",
    "/docs/package.json",
    "/docs/constructor",
    "/docs/__proto__",
    "/docsx",
    "/docs/index.html/",
  ])("serves only its own files: %s", async (path) => {
    const { status, body } = await rawGet(path, new URL(origin).host);
    expect([status, JSON.parse(body).code]).toEqual([404, "not_found"]);
  });

  it.each(["POST", "HEAD", "DELETE", "OPTIONS"])("rejects %s", async (method) => {
    expect((await fetch(`${origin}/docs/`, { method })).status).toBe(404);
  });
});

describe("the static site", () => {
  it("has all files, no key and no server", async () => {
    const folder = await mkdtemp(join(tmpdir(), "animal-store-docs-"));
    await buildDocs(folder);
    expect((await readdir(folder)).sort()).toEqual([
      "LICENSE-swagger-ui",
      "accessible-names.js",
      "document.js",
      "exact-integers.js",
      "favicon-32x32.png",
      "index.html",
      "openapi.json",
      "page.css",
      "page.js",
      "plugins.js",
      "swagger-ui-bundle.js",
      "swagger-ui.css",
    ]);
    const html = await readFile(join(folder, "index.html"), "utf8");
    expect(html).not.toContain("data-key");
    expect(html).not.toMatch(/(src|href)="(https?:)?\//);
    const document = JSON.parse(await readFile(join(folder, "openapi.json"), "utf8"));
    expect([document.servers, Object.keys(document.paths)]).toEqual([[], ["/pets", "/pets/{petId}"]]);
    await rm(folder, { recursive: true });
  });
});
