import assert from "node:assert/strict";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseJson } from "../../../lib/http/json.ts";
import type { Operation } from "../../../lib/operation.ts";
import { undocumented } from "../../support/documented.ts";
import { type HttpRequest, send } from "../../support/http.ts";
import { keysJson } from "../../support/keys-cli.ts";
import { startService } from "../../support/local-service.ts";
import { type Key, statuses } from "./model.ts";

/** The service that the run tests. */
export interface TestedService {
  /** It can change when the service restarts. */
  baseUrl(): string;
  key: string;
  /** undefined where the run does not control the service */
  operator?: Operator;
  /** the responses that the model has expected so far, such as `getPet 404`, and the names of its commands */
  reached: Set<string>;
}

/** What a run can do with a service of its own. */
export type Operator = Awaited<ReturnType<typeof startOwnService>>["operator"];

/** Starts a local service. `await using` stops it. */
export async function startOwnService() {
  const folder = await mkdtempDisposable(join(tmpdir(), "animal-store-model-"));
  const environment = { DATA_DIR: folder.path };
  let local = await startService(environment);
  const operator = {
    /** Runs `npm run keys`. */
    keys: (...args: string[]) => keysJson([...args, "--stage", "local"], environment),
    restart: async () => {
      await local.stop();
      operator.checkLog();
      local = await startService(environment);
    },
    /** @throws AssertionError when the service has written why it failed. It writes JSON lines otherwise. */
    checkLog: () => assert.equal(/^animal-store: .*/m.exec(local.output())?.[0], undefined),
  };
  const dispose = async () => {
    await local.stop();
    await folder.remove();
  };
  return { key: local.key, operator, baseUrl: () => local.baseUrl, [Symbol.asyncDispose]: dispose };
}

/**
 * Sends a request with a key of the model, and retries a 503 or 429 as a client should.
 *
 * @param path relative to the base URL
 * @param options.success the status for a valid key with the scope, by default that of the operation; the other options
 *   are parts of the request
 * @returns the status, the body with integers as bigint, and the path of the next page
 * @throws AssertionError when the model does not allow the status, or openapi.json does not describe the response
 */
export async function call(
  { baseUrl, reached }: TestedService,
  operation: Operation,
  path: string,
  key: Key,
  { success = operation.success.status, ...parts }: Partial<HttpRequest> & { success?: number } = {},
) {
  const { id, method } = operation;
  const request = { method, path, key: key.secret, ...parts };
  let response = await send(baseUrl(), request);
  for (let tries = 5; response.headers.has("retry-after") && tries > 0; tries--) {
    await setTimeout(Number(response.headers.get("retry-after")) * 1000);
    response = await send(baseUrl(), request);
  }
  const { status, text } = response;
  const [route = ""] = path.split("?");
  const body = text === "" ? undefined : JSON.parse(text); // a 204 has none
  assert.deepEqual(undocumented(method, route, { ...response, body }), []);
  const allowed = statuses(key, method === "GET" ? "pets:read" : "pets:write", success);
  assert.ok(allowed.includes(status), `${id} returned ${status}, not ${allowed}`);
  reached.add(`${id} ${status}`);
  if (status !== 401) key.used = true;
  const next = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  return { status, body: body && parseJson(text), next: next?.slice(next.indexOf(`${route}?`)) };
}
