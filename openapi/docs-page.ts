import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openApiDocument } from "./document.ts";

const own = fileURLToPath(new URL("docs-page", import.meta.url));
const swaggerUi = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

/** Every file of the page: nothing else is ever read. */
const files: Record<string, { folder: string; type: string }> = {
  "index.html": { folder: own, type: "text/html; charset=utf-8" },
  "page.js": { folder: own, type: "text/javascript; charset=utf-8" },
  "swagger-ui.css": { folder: swaggerUi, type: "text/css; charset=utf-8" },
  "swagger-ui-bundle.js": { folder: swaggerUi, type: "text/javascript; charset=utf-8" },
  "favicon-32x32.png": { folder: swaggerUi, type: "image/png" },
};

/**
 * The page holds a key: no other site may read it, frame it or load parts of it, and it loads nothing from
 * elsewhere. That is also why the key is in the HTML and not in a script, which any site could run.
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

/** The document with the service that shows it as its first server. */
function documentFor(host: string, stageName: string): string {
  const document = openApiDocument();
  const here = { url: `http://${host}/${stageName}`, description: "This service" };
  return JSON.stringify({ ...document, servers: [here, ...document.servers] });
}

/** Answers a request when it is for the docs page; says whether it did. */
export type Docs = (message: IncomingMessage, response: ServerResponse) => Promise<boolean>;

/**
 * Serves the page to read about the API and try it on, at /docs/ of this machine's service.
 * It answers only GET, and only a Host that names this machine: with a name of its own that resolves to
 * 127.0.0.1, any site could otherwise read the key (DNS rebinding).
 *
 * @param key filled in for the calls that the page makes
 * @param stageName the first segment of the API's paths
 */
export function docsPage(key: string, stageName: string): Docs {
  return async ({ method, url = "", headers: { host = "" } }, response) => {
    const [path = ""] = url.split("?");
    if (method !== "GET" || !/^(localhost|127\.0\.0\.1)(:\d+)?$/i.test(host)) return false;
    if (path === "/docs") {
      response.writeHead(308, { ...headers, Location: "/docs/" }).end();
      return true;
    }
    const name = path === "/docs/" ? "index.html" : path.replace(/^\/docs\//, "");
    if (name === path) return false;
    const send = (type: string, body: string | Buffer) => {
      response.writeHead(200, {
        ...headers,
        "Content-Type": type,
        "Content-Length": Buffer.byteLength(body),
      });
      response.end(body);
      return true;
    };
    if (name === "openapi.json") return send("application/json", documentFor(host, stageName));
    const file = Object.hasOwn(files, name) ? files[name] : undefined;
    if (!file) return false;
    const content = await readFile(join(file.folder, name)).catch(() => undefined);
    if (!content) return false; // reinstalled just now, say: no reason for the service to end
    if (name !== "index.html") return send(file.type, content);
    // A key is letters, digits and underscores, so it needs no escapes.
    return send(file.type, content.toString().replace('id="docs"', `id="docs" data-key="${key}"`));
  };
}

/**
 * Writes the page as a static site, to publish anywhere. It has no key and calls no service.
 *
 * @param folder made when it is not there
 */
export async function buildDocs(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, { folder: source }] of Object.entries(files)) {
    await writeFile(join(folder, name), await readFile(join(source, name)));
  }
  await writeFile(join(folder, "LICENSE-swagger-ui"), await readFile(join(swaggerUi, "LICENSE")));
  await writeFile(join(folder, "openapi.json"), JSON.stringify(openApiDocument()));
}
