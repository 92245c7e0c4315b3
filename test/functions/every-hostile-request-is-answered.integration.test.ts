import { afterAll, expect, it } from "@jest/globals";
import fc from "fast-check";
import { operations } from "../../lib/operations.ts";
import { disconnect, send } from "../support/http.ts";
import { differencesFromDocument } from "../support/openapi-document.ts";
import { shared } from "../support/shared.ts";

const [CONNECTIONS, REQUESTS] = [24, 13]; // of each connection
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

/** Requests that can be hostile in every part that API Gateway passes on. */
const hostile = fc.record({
  method: wordOf(`${methods} POST POST PUT HEAD OPTIONS`),
  path: fc.oneof(fc.constant("/pets"), path),
  headers: fc.tuple(
    fc.tuple(fc.constant("Authorization"), mostly(`Bearer ${shared.key}`, header)),
    fc.tuple(fc.constant("Content-Type"), mostly("application/json", header)),
    fc.tuple(otherName, header),
  ),
  body,
});
afterAll(disconnect);

it("every hostile request gets a documented response, with no other header and no 5xx", async () => {
  const statuses = new Set<number>();
  const property = fc.asyncProperty(hostile, async (request) => {
    const { status, headers, headerNames, text } = await send(shared.baseUrl, request);
    statuses.add(status);
    expect(status).toBeLessThan(500);
    expect(headerNames.filter((name) => !HEADERS.test(name))).toEqual([]);
    expect(new Set(headerNames).size).toBe(headerNames.length); // none is repeated
    const body = request.method === "HEAD" ? undefined : JSON.parse(text);
    const [route = ""] = request.path.split("?");
    expect(differencesFromDocument(request.method, route, { status, headers, body })).toEqual([]);
  });
  const attackers = [...Array(CONNECTIONS).keys()].map((seed) =>
    fc.assert(property, { seed, numRuns: REQUESTS }),
  );
  await Promise.all(attackers);
  // They reach every part of the service.
  expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 405, 413, 415]));
});
