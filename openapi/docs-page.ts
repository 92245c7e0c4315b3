import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openApiDocument } from "./document.ts";

const own = fileURLToPath(new URL("docs-page", import.meta.url));
const swaggerUi = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

const types = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  png: "image/png",
  json: "application/json",
};

/** The files that the page consists of. No other file is ever read. */
const files = [
  ...["index.html", "page.css", "page.js", "exact-integers.js"].map((name) => join(own, name)),
  ...["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"].map((name) => join(swaggerUi, name)),
];

/**
 * The page contains a key. With these headers, no other site can read it, frame it or load parts of it, and it loads
 * nothing from other origins. The key is in the HTML and not in a script, which a browser without
 * Cross-Origin-Resource-Policy would let any site load.
 */
const headers = {
  "Cache-Control": "no-store",
  "Content-Security-Policy":
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/**
 * Serves the docs page of the local service at /docs/, to which / and /docs lead.
 *
 * It responds only to GET and HEAD with a Host that names this machine. Otherwise any site could read the key through a name of
 * its own that resolves to 127.0.0.1 (DNS rebinding).
 *
 * @param key the key that the page sends
 * @param apiStageName the first segment of the API's paths
 * @returns responds to a request for the page, and returns false for any other request
 * @throws Error when a schema of the document lacks what the document needs, or a file cannot be read
 */
export function docsPage(key: string, apiStageName: string) {
  const document = openApiDocument();
  // All of them before the first request, because npm can change them while this runs.
  const contents = new Map(files.map((file) => [basename(file), readFileSync(file)]));
  // A key is letters, digits and underscores, so it needs no escapes.
  const html = String(contents.get("index.html")).replace('id="docs"', `id="docs" data-key="${key}"`);
  contents.set("index.html", Buffer.from(html));

  return ({ method = "", url = "", headers: { host = "" } }: IncomingMessage, response: ServerResponse) => {
    const [path = ""] = url.split("?");
    if (!/^(GET|HEAD)$/.test(method) || !/^(localhost|127\.0\.0\.1)(:\d+)?$/i.test(host)) return false;
    if (path === "/" || path === "/docs") {
      response.writeHead(308, { ...headers, Location: "/docs/" }).end();
      return true;
    }
    if (!path.startsWith("/docs/")) return false;
    const name = path.slice("/docs/".length) || "index.html";
    const servers = [{ url: `http://${host}/${apiStageName}`, description: "This service" }];
    const body = name === "openapi.json" ? JSON.stringify({ ...document, servers }) : contents.get(name);
    if (body === undefined) return false;
    response.writeHead(200, {
      ...headers,
      "Content-Type": types[extname(name).slice(1) as keyof typeof types],
      "Content-Length": Buffer.byteLength(body),
    });
    response.end(body);
    return true;
  };
}
