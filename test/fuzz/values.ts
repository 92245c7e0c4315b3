import fc from "fast-check";

export const bytes = (text: string) => Buffer.from(text, "utf8");
/** Any bytes at all. */
export const anyBytes = fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each));
const anyText = fc.string({ unit: "binary", maxLength: 60 });
const repeated = (what: string, most: number) => fc.nat(most).map((times) => what.repeat(times));

const hugeNumber = fc.oneof(
  fc.bigInt().map(String),
  fc.double().map(String),
  repeated("9", 12_000),
  fc.constantFrom("1e400", "-1e-400", "0.0", "1.0", "-0", "01", "+1", "NaN", "1e99999999999", "0x10", "1E5"),
);
const jsonString = fc.oneof(
  anyText.map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\x"', '"\u0000"', '"__proto__"', '"\\'),
  repeated("é", 300).map((text) => `"${text}"`),
);
const jsonValue = fc.oneof(fc.json({ maxDepth: 4 }), hugeNumber, jsonString);
const member = fc
  .tuple(
    fc.constantFrom('"name"', '"categoryId"', '"status"', '"id"', '"__proto__"', '"constructor"'),
    jsonValue,
  )
  .map(([name, value]) => `${name}:${value}`);
const nested = fc
  .tuple(fc.constantFrom(["[", "]"], ['{"a":', "}"]), fc.nat(8000), fc.boolean())
  .map(
    ([[open = "", close = ""], depth, closed]) =>
      `${open.repeat(depth)}1${closed ? close.repeat(depth) : ""}`,
  );

const validBody = jsonString.map((name) => `{"name":${name},"categoryId":1}`);
/** Bodies, from good ones to what is no text. */
export const body: fc.Arbitrary<Buffer> = fc.oneof(
  validBody.map(bytes),
  fc.array(member, { maxLength: 6 }).map((members) => bytes(`{${members.join(",")}}`)),
  jsonValue.map(bytes),
  nested.map(bytes),
  anyBytes,
  // What is no UTF-8: a lone continuation, an overlong form, a surrogate, a code point beyond the last.
  fc
    .constantFrom("80", "c0af", "eda080", "f4908080", "ff", "efbbbf")
    .map((hex) => Buffer.concat([bytes('{"categoryId":1,"name":"a'), Buffer.from(hex, "hex"), bytes('"}')])),
  fc.nat(20_000).map((length) => bytes(`{"name":"Rex","categoryId":1,"note":"${"x".repeat(length)}"}`)),
);

const encoded = fc.oneof(
  fc.constantFrom(
    "%00",
    "%ff",
    "%",
    "%2",
    "%zz",
    "%2e%2e%2f",
    "%c0%af",
    "%ed%a0%80",
    "%0d%0aX-Injected:%201",
  ),
  fc.nat(255).map((byte) => `%${byte.toString(16).padStart(2, "0")}`),
  anyText.filter((text) => text.isWellFormed()).map(encodeURIComponent),
  fc.constantFrom(
    "1",
    "-1",
    "007",
    "9".repeat(3000),
    "..",
    ".",
    ";x=1",
    "*",
    "+",
    "null",
    "__proto__",
    "~",
    "'",
  ),
);
const parameter = fc
  .tuple(
    fc.constantFrom("limit", "status", "cursor", "__proto__", "limit[]", "", "Limit"),
    fc.option(encoded),
  )
  .map(([name, value]) => (value === null ? name : `${name}=${value}`));
const goodQuery = fc.constantFrom("", "?limit=1", "?limit=100", "?status=sold", "?limit=2&status=pending");
/** Request targets: good and bad queries, identifiers and paths. */
export const target = fc.oneof(
  { weight: 4, arbitrary: goodQuery.map((query) => `/v1/pets${query}`) },
  { weight: 4, arbitrary: fc.array(parameter, { maxLength: 6 }).map((all) => `/v1/pets?${all.join("&")}`) },
  { weight: 3, arbitrary: encoded.map((id) => `/v1/pets/${id}`) },
  { weight: 1, arbitrary: fc.array(encoded, { maxLength: 8 }).map((parts) => `/${parts.join("/")}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("*", "http://other/v1/pets", "/v1/pets#x", "//v1/pets", "/v1/pets?", "?"),
  },
);

const headerText = fc.oneof(
  fc.string({ unit: "binary-ascii", maxLength: 60 }),
  repeated("a", 20_000),
  fc.constantFrom(
    "",
    "\t",
    "é",
    "\u0000",
    "a\r\n b",
    "a\rX-Injected: 1",
    "\r\nX-Injected: 1",
    "%0d%0aX-Injected: 1",
  ),
);
const HEADERS =
  "X-A,Host,Cookie,X-Forwarded-Proto,X-Forwarded-Host,Accept,Expect,TE,Bad Name,Upgrade,Range,__proto__," +
  "Connection,X-HTTP-Method-Override,Content-Length,Authorization";

/** Header lines that have no business here, some of them with line ends in them. */
export const noise = fc
  .tuple(fc.constantFrom(...HEADERS.split(",")), headerText)
  .map(([name, value]) => `${name}: ${value}`);
/** Content-Type's value, mostly the right one. */
export const contentType = fc.oneof(
  { weight: 6, arbitrary: fc.constant("application/json") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "application/json; charset=utf-16",
      "text/plain",
      "",
      ";",
      'application/json;charset="utf-8',
    ),
  },
  { weight: 1, arbitrary: headerText },
);
/** Authorization's value, mostly the right one. */
export const authorization = (key: string) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(`Bearer ${key}`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "",
        "Bearer",
        `Basic ${key}`,
        `Bearer ${key.slice(0, -1)}!`,
        `bearer  ${key}`,
      ),
    },
    { weight: 1, arbitrary: headerText },
  );
