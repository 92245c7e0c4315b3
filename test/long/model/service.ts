import assert from "node:assert/strict";
import { parseJson } from "../../../lib/http/json.ts";
import { undocumented } from "../../support/documented.ts";

/** The service that the run tests. */
export interface TestedService {
  baseUrl: string;
  key: string;
  /** runs `npm run keys`; undefined, like restart, where the run does not control the service */
  // biome-ignore lint/suspicious/noExplicitAny: each command prints another shape
  keys?: (...args: string[]) => Promise<any>;
  restart?: () => Promise<void>;
}

interface ModelResponse {
  status: number;
  /** integers are bigint */
  body: unknown;
  next: string | undefined;
}

/**
 * Sends a request, and retries a 503 or 429 as a client should.
 *
 * @param path relative to the base URL
 * @throws AssertionError when openapi.json does not describe the response
 */
export async function send(
  { baseUrl }: TestedService,
  path: string,
  { secret, body, idempotencyKey }: { secret: string; body?: string; idempotencyKey?: string },
): Promise<ModelResponse> {
  const headers = {
    Authorization: `Bearer ${secret}`,
    ...(body !== undefined && { "Content-Type": "application/json" }),
    ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
  };
  const method = body === undefined ? "GET" : "POST";
  for (let tries = 5; ; tries--) {
    const response = await fetch(baseUrl + path, { method, headers, ...(body !== undefined && { body }) });
    const text = await response.text();
    const retryAfter = response.headers.get("retry-after");
    if (retryAfter && tries > 0) {
      await new Promise((resolve) => setTimeout(resolve, Number(retryAfter) * 1000));
      continue;
    }
    const { status } = response;
    const [route = ""] = path.split("?");
    const difference = undocumented(method, route, {
      status,
      headers: response.headers,
      body: JSON.parse(text),
    });
    assert.deepEqual(difference, []);
    const next = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
    return { status, body: parseJson(text), next: next?.slice(next.indexOf("/pets?")) };
  }
}
