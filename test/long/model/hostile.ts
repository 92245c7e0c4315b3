import assert from "node:assert/strict";
import fc from "fast-check";
import { operations } from "../../../lib/operations.ts";
import { undocumented } from "../../support/documented.ts";
import { disconnect, send } from "../../support/http.ts";
import type { TestedService } from "./service.ts";

const CONNECTIONS = 24;
/** Every header that the service, its gateway and HTTP itself define. */
const HEADERS =
  /^(allow|cache-control|connection|content-(length|type)|date|deprecation|keep-alive|link|retry-after|sunset|www-authenticate|x-amz-apigw-id|x-amzn-requestid)$/;

const methods = operations.map(({ method }) => method).join(" ");
const wordOf = (text: string) => fc.constantFrom(...text.split(" "));
const mostly = (usual: string, other: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
const encoded = fc.oneof(
  wordOf("%00 %ff % %2e%2e%2f %c0%af %0d%0aX-Injected:%201 1 sold .. * __proto__"),
  fc.string({ unit: "binary" }).map((text) => encodeURIComponent(text.toWellFormed())),
);
const path = fc
  .tuple(wordOf("/pets?limit= /pets?status= /pets?limit=1&cursor= /pets?limit[]= /pets/ /"), encoded)
  .map((parts) => parts.join(""));
const otherName = wordOf("X-A Cookie Range Accept Origin Idempotency-Key Content-Encoding Authorization");
const header = fc.string({ unit: "grapheme-ascii" });
const name = mostly('"Rex"', fc.json());
const body = fc.oneof(
  fc.tuple(name, fc.bigInt()).map(([json, id]) => Buffer.from(`{"name":${json},"categoryId":${id}}`)),
  fc.tuple(wordOf('[ {"a": x'), fc.nat(17_000)).map(([part, times]) => Buffer.from(part.repeat(times))),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
);

/** Requests that can be hostile in every part that API Gateway passes on. @param key a valid API key */
const hostileRequest = (key: string) =>
  fc.record({
    method: wordOf(`${methods} POST POST PUT HEAD OPTIONS`),
    path: fc.oneof(fc.constant("/pets"), path),
    headers: fc.tuple(
      fc.tuple(fc.constant("Authorization"), mostly(`Bearer ${key}`, header)),
      fc.tuple(fc.constant("Content-Type"), mostly("application/json", header)),
      fc.tuple(otherName, header),
    ),
    body,
  });

/**
 * Sends hostile requests to a service and checks every response.
 *
 * @param seed determines the requests
 * @param count the least number of requests
 * @returns the statuses
 * @throws Error with the shortest request that has a wrong response, and the seed
 */
export async function attack({ baseUrl, key }: TestedService, seed: number, count: number) {
  const statuses: number[] = [];
  const property = fc.asyncProperty(hostileRequest(key), async (request) => {
    const { status, headers, headerNames, text } = await send(baseUrl, { ...request, timeoutMs: 10_000 });
    statuses.push(status);
    assert.ok(status < 500, `status ${status}`);
    for (const name of headerNames) assert.match(name, HEADERS);
    assert.equal(new Set(headerNames).size, headerNames.length, "a repeated header");
    const body = request.method === "HEAD" ? undefined : JSON.parse(text);
    const [route = ""] = request.path.split("?");
    assert.deepEqual(undocumented(request.method, route, { status, headers, body }), []);
  });
  const attackers = Array.from({ length: CONNECTIONS }, (_, n) =>
    fc.assert(property, { seed: seed + n, numRuns: Math.ceil(count / CONNECTIONS) }),
  );
  await Promise.all(attackers);
  disconnect();
  return statuses;
}
