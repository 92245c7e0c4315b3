import fc from "fast-check";
import type { HttpRequest } from "../../support/http.ts";

/** A request that a conforming HTTP client can send. */
type HostileRequest = Required<Pick<HttpRequest, "method" | "path" | "headers">> & { body: Buffer };

const bytes = (text: string) => Buffer.from(text, "utf8");
const anyText = fc.string({ unit: "binary", maxLength: 60 });
const repeated = (text: string, max: number) => fc.nat(max).map((times) => text.repeat(times));
/** One of the words of a text; two spaces have an empty word between them. */
const wordOf = (text: string) => fc.constantFrom(...text.split(" "));
const weighted = <T>(...choices: [weight: number, arbitrary: fc.Arbitrary<T>][]) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const hugeNumber = fc.oneof(
  fc.bigInt().map(String),
  fc.double().map(String),
  repeated("9", 12_000),
  wordOf("1e400 -1e-400 0.0 1.0 -0 01 +1 NaN 1e99999999999 0x10 1E5"),
);
const jsonString = fc.oneof(
  anyText.map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\x"', '"\u0000"', '"__proto__"', '"\\'),
  repeated("é", 300).map((text) => `"${text}"`),
);
const jsonValue = fc.oneof(fc.json({ maxDepth: 4 }), hugeNumber, jsonString);
const member = fc
  .tuple(wordOf("name categoryId status id __proto__ constructor"), jsonValue)
  .map(([name, value]) => `"${name}":${value}`);
const nested = fc
  .tuple(fc.constantFrom(["[", "]"], ["[", ""], ['{"a":', "}"], ['{"a":', ""]), fc.nat(8000))
  .map(([[open = "", close = ""], depth]) => `${open.repeat(depth)}1${close.repeat(depth)}`);

/** Valid bodies, invalid JSON, and bytes that are not UTF-8. */
const body: fc.Arbitrary<Buffer> = fc.oneof(
  jsonString.map((name) => bytes(`{"name":${name},"categoryId":1}`)),
  fc.array(member, { maxLength: 6 }).map((members) => bytes(`{${members.join(",")}}`)),
  jsonValue.map(bytes),
  nested.map(bytes),
  fc.uint8Array({ maxLength: 200 }).map((content) => Buffer.from(content)),
  // Not UTF-8: a lone continuation byte, an overlong form, a surrogate, a code point beyond the last one.
  wordOf("80 c0af eda080 f4908080 ff efbbbf").map((hex) =>
    Buffer.concat([bytes('{"categoryId":1,"name":"a'), Buffer.from(hex, "hex"), bytes('"}')]),
  ),
  fc.nat(20_000).map((length) => bytes(`{"name":"Rex","categoryId":1,"note":"${"x".repeat(length)}"}`)),
);

const encoded = fc.oneof(
  wordOf("%00 %ff % %2 %zz %2e%2e%2f %c0%af %ed%a0%80 %0d%0aX-Injected:%201"),
  fc.nat(255).map((byte) => `%${byte.toString(16).padStart(2, "0")}`),
  anyText.filter((text) => text.isWellFormed()).map(encodeURIComponent),
  wordOf(`1 -1 007 ${"9".repeat(3000)} .. . ;x=1 * + null __proto__ ~ '`),
);
const parameter = fc
  .tuple(wordOf("limit status cursor __proto__ limit[]  Limit"), fc.option(encoded))
  .map(([name, value]) => (value === null ? name : `${name}=${value}`));
const validQuery = fc.constantFrom("", "?limit=1", "?limit=100", "?status=sold", "?limit=2&status=pending");
const path = weighted(
  [4, validQuery.map((query) => `/v1/pets${query}`)],
  [4, fc.array(parameter, { maxLength: 6 }).map((all) => `/v1/pets?${all.join("&")}`)],
  [3, encoded.map((id) => `/v1/pets/${id}`)],
  [1, fc.array(encoded, { maxLength: 8 }).map((parts) => `/${parts.join("/")}`)],
  [1, wordOf("/v1 /v1/ //v1/pets /v1/pets? /v1/pets/ /v1?limit=1")],
);

const headerValue = fc.oneof(
  fc.string({ unit: "grapheme-ascii", maxLength: 60 }),
  repeated("a", 8000),
  fc.constantFrom("", "\t", "é", "%0d%0aX-Injected: 1", "{}", "null", "0", "gzip", '"', "a, b"),
);
/** Headers that the API does not expect, or not twice. */
const otherName = wordOf(
  "X-A Cookie X-Forwarded-Proto X-Forwarded-Host Accept Range __proto__ X-HTTP-Method-Override Authorization " +
    "Idempotency-Key Content-Encoding If-None-Match Origin",
);
const unusualType = fc.constantFrom(
  ...["application/json; charset=utf-16", "text/plain", "", ";", 'application/json;charset="utf-8'],
);
const contentType = weighted([6, fc.constant("application/json")], [1, unusualType], [1, headerValue]);
const authorization = (key: string) =>
  weighted(
    [12, fc.constant(`Bearer ${key}`)],
    [1, fc.constantFrom("", "Bearer", `Basic ${key}`, `Bearer ${key.slice(0, -1)}!`, `bearer  ${key}`)],
    [1, headerValue],
  );

/**
 * API Gateway's limit for the request line and the headers, less the headers that every request has, in bytes. What is
 * above never reaches the API.
 */
const HEAD_LIMIT = 10_240 - 200;

/**
 * Requests from valid to hostile in every part that API Gateway passes on: path, query, headers and body.
 *
 * @param key a valid API key
 */
export const hostileRequest = (key: string): fc.Arbitrary<HostileRequest> => {
  const others = fc.array(fc.tuple(otherName, headerValue), { maxLength: 3 });
  return fc
    .record({
      method: weighted([6, wordOf("GET POST")], [1, wordOf("PUT HEAD OPTIONS TRACE DELETE PATCH")]),
      path,
      headers: fc
        .tuple(authorization(key), contentType, weighted([3, others.map(() => [])], [1, others]))
        .map(([authorization, contentType, others]): HostileRequest["headers"] => [
          ["Authorization", authorization],
          ["Content-Type", contentType],
          ...others,
        ]),
      body: weighted([1, fc.constant(Buffer.alloc(0))], [2, body]),
    })
    .filter(({ path, headers }) => `${path}${headers}`.length < HEAD_LIMIT);
};
