import assert from "node:assert/strict";
import fc from "fast-check";
import { type ErrorCode, errors } from "../../../lib/errors.ts";
import { disconnect, type HttpResponse, send } from "../../support/http.ts";
import { hostileRequest } from "./hostile-requests.ts";
import type { TestedService } from "./service.ts";

/** Every header that the service, its gateway and HTTP itself define. */
const HEADERS =
  "allow cache-control connection content-length content-type date deprecation keep-alive link retry-after sunset " +
  "www-authenticate x-amzn-requestid";
const CONNECTIONS = 24;

/** The responses to hostile requests. */
export interface HostileResult {
  sent: number;
  /** by status */
  counts: Map<number, number>;
}

/** Checks what the response to every request must fulfil. */
function check({ status, headers, headerNames, text }: HttpResponse, method: string): void {
  assert.ok(status < 500, `status ${status}`);
  for (const name of headerNames) assert.ok(HEADERS.split(" ").includes(name), `the header ${name}`);
  assert.equal(new Set(headerNames).size, headerNames.length, "a repeated header");
  assert.equal(headers.get("content-type"), "application/json");
  if (method === "HEAD") return;
  const content = JSON.parse(text);
  if (status < 400) return;
  const { code, message } = content;
  assert.deepEqual(content, { code, message, status });
  assert.equal(errors[code as ErrorCode]?.status, status, code);
  assert.ok(message, "no message");
}

/**
 * Sends hostile requests to a service and checks every response.
 *
 * @param options.seed determines the requests
 * @param options.result counts the responses
 * @throws Error with the first wrong response, its request and the seed
 */
export async function attack(
  { baseUrl, key }: TestedService,
  { seed, count, result }: { seed: number; count: number; result: HostileResult },
): Promise<void> {
  // The requests have whole paths, some of them outside the base URL.
  const { origin } = new URL(baseUrl());
  const queue = fc.sample(hostileRequest(key), { seed, numRuns: count });
  const client = async () => {
    for (let request = queue.pop(); request; request = queue.pop()) {
      try {
        const response = await send(origin, { ...request, timeoutMs: 10_000 });
        result.sent++;
        result.counts.set(response.status, (result.counts.get(response.status) ?? 0) + 1);
        check(response, request.method);
      } catch (error) {
        queue.length = 0;
        const text = JSON.stringify({ ...request, body: request.body.toString("latin1") });
        const sent = text.replaceAll(key, "KEY").slice(0, 600);
        throw new Error(`Hostile request of seed ${seed}: ${sent}\n${(error as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  disconnect();
}
