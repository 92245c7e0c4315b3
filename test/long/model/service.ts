import assert from "node:assert/strict";
import { parseJson } from "../../../lib/http/json.ts";
import type { Operation } from "../../../lib/operation.ts";
import { undocumented } from "../../support/documented.ts";
import { type HttpRequest, send } from "../../support/http.ts";

/** The service that the run tests. */
export interface TestedService {
  baseUrl: string;
  /** with both scopes */
  key: string;
}

/**
 * Sends a request.
 *
 * @param path relative to the base URL
 * @param options.status the expected status, by default that of the operation; the other options are parts of the request
 * @returns the body with integers as bigint, and the path of the next page
 * @throws AssertionError when the status is another, or openapi.json does not describe the response
 */
export async function call(
  { baseUrl, key }: TestedService,
  operation: Operation,
  path: string,
  { status = operation.success.status, ...parts }: Partial<HttpRequest> & { status?: number } = {},
) {
  const { id, method } = operation;
  const response = await send(baseUrl, { method, path, key, ...parts });
  const { text } = response;
  const [route = ""] = path.split("?");
  const body = text === "" ? undefined : JSON.parse(text); // a 204 has none
  assert.deepEqual(undocumented(method, route, { ...response, body }), []);
  assert.equal(response.status, status, id);
  const next = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  return { body: body && parseJson(text), next: next?.slice(next.indexOf(`${route}?`)) };
}
