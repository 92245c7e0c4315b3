import { afterEach, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { ApiError } from "../../../../lib/errors.ts";
import { readRequest } from "../../../../lib/http/request.ts";
import { INT64_MAX, INT64_MIN } from "../../../../lib/int64.ts";
import { createPet, getPet, listPets } from "../../../../lib/operations.ts";
import { requestEvent } from "../../../support/event.ts";

/** The error that reading a request throws. */
function errorOf(read: () => unknown): ApiError {
  try {
    read();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("No error was thrown.");
}

const readBody = (body: string | null) => readRequest(createPet, requestEvent({ body })).body;
const bodyError = (body: string | null) => errorOf(() => readBody(body));
const readQuery = (query: Record<string, string[]>) => readRequest(listPets, requestEvent({ query })).query;
const queryError = (query: Record<string, string[]>) => errorOf(() => readQuery(query));

describe("the body of createPet", () => {
  const name = fc
    .string({ unit: "binary", minLength: 1, maxLength: 256 })
    .filter((text) => text.isWellFormed() && [...text].length <= 256);
  const pet = fc.record({
    name,
    categoryId: fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
    status: fc.constantFrom("available", "pending", "sold"),
  });

  it("is accepted with any name and category, and returned unchanged", () => {
    fc.assert(
      fc.property(pet, ({ name, categoryId, status }) => {
        const body = `{"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;
        expect(readBody(body)).toEqual({ name, categoryId, status });
      }),
    );
  });

  it("defaults to available, and drops unknown members and a client's id", () => {
    expect(readBody('{"name":"Rex","categoryId":1,"id":7,"__proto__":{"status":"sold"},"tag":[]}')).toEqual({
      name: "Rex",
      categoryId: 1n,
      status: "available",
    });
  });

  it("is refused outside int64", () => {
    const beyond = fc.oneof(fc.bigInt({ min: INT64_MAX + 1n }), fc.bigInt({ max: INT64_MIN - 1n }));
    expect(bodyError(`{"name":"Rex","categoryId":${INT64_MAX + 1n}}`).message).toBe(
      "categoryId must be an integer from -9223372036854775808 to 9223372036854775807.",
    );
    fc.assert(
      fc.property(beyond, (n) =>
        expect(bodyError(`{"name":"Rex","categoryId":${n}}`).code).toBe("invalid_request"),
      ),
    );
  });

  it("is refused with a fraction for a category", () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n)),
        (n) => expect(bodyError(`{"name":"Rex","categoryId":${n}}`).code).toBe("invalid_request"),
      ),
    );
  });

  it("is refused with any JSON value of a wrong type, and the message does not repeat the value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(typeof value !== "string" && typeof value !== "number");
        const { code, message } = bodyError(
          JSON.stringify({ name: value, categoryId: value, status: value }),
        );
        expect(code).toBe("invalid_request");
        expect(message).toBe(
          "name must be a string of 1 to 256 characters of well-formed Unicode; " +
            "categoryId must be an integer from -9223372036854775808 to 9223372036854775807; " +
            "status must be one of available, pending, sold.",
        );
      }),
    );
  });

  it("names the members that are missing", () => {
    expect(bodyError("{}").message).toBe(
      "name is required and must be a string of 1 to 256 characters of well-formed Unicode; " +
        "categoryId is required and must be an integer from -9223372036854775808 to 9223372036854775807.",
    );
  });

  it("counts the characters of a name as code points", () => {
    const named = (name: string) => JSON.stringify({ name, categoryId: 1 });
    expect(readBody(named("🐕".repeat(256))).name).toHaveLength(512);
    expect(bodyError(named("🐕".repeat(257))).message).toContain("name must");
    expect(bodyError(named("")).message).toContain("name must");
    expect(bodyError('{"name":"\\ud800","categoryId":1}').message).toContain("name must");
  });

  it.each(["[]", "null", "1", '"text"', "true"])("is refused when it is %s", (body) => {
    expect(bodyError(body).message).toBe("body must be a JSON object.");
  });

  it.each([null, "", "{", "nul", "{'name':'Rex'}", '{"a":1,}', "\uFEFF{}", "[".repeat(16_000)])(
    "is refused when it is not JSON: %j",
    (body) => {
      const { code, message } = bodyError(body);
      expect([code, message]).toEqual(["invalid_request", "The body must be well-formed JSON."]);
    },
  );

  it("can have 16,384 bytes, and not one more", () => {
    const start = '{"name":"Rex","categoryId":1,"note":"é';
    const fill = 16_384 - Buffer.byteLength(start) - 2;
    expect(readBody(`${start}${"x".repeat(fill)}"}`).name).toBe("Rex");
    expect(bodyError(`${start}${"x".repeat(fill + 1)}"}`).code).toBe("payload_too_large");
  });

  it("is refused for its type before its size, and for its size before its form", () => {
    const body = "x".repeat(16_385);
    const errorFor = (headers: Record<string, string>) =>
      errorOf(() => readRequest(createPet, requestEvent({ headers, body }))).code;
    expect(errorFor({ "Content-Type": "text/plain" })).toBe("unsupported_media_type");
    expect(errorFor({ "Content-Type": "application/json" })).toBe("payload_too_large");
  });

  it("is decoded when API Gateway sends it in base64", () => {
    const body = Buffer.from('{"name":"Réx","categoryId":1}').toString("base64");
    expect(readRequest(createPet, requestEvent({ body, isBase64Encoded: true })).body.name).toBe("Réx");
  });

  it.each([
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "application/json ; v=1;",
    "application/json; x-charset=latin1",
  ])("can be sent as %s", (type) => {
    const headers = { "cOnTeNt-TyPe": type };
    expect(
      readRequest(createPet, requestEvent({ headers, body: '{"name":"Rex","categoryId":1}' })).body.name,
    ).toBe("Rex");
  });

  it.each([
    {},
    { "Content-Type": "" },
    { "Content-Type": "text/plain" },
    { "Content-Type": "application/jsonp" },
    { "Content-Type": "appl ication/json" },
    { "Content-Type": "x-application/json" },
    { "Content-Type": "application/json; charset=utf-8x" },
    { "Content-Type": "application/json", "Content-Encoding": "identity, gzip" },
    { "Content-Type": "application/json", "Content-Encoding": "gzip, identity" },
    { "Content-Type": "application/merge-patch+json" },
    { "Content-Type": "application/json; charset=latin1" },
    { "Content-Type": "application/x-www-form-urlencoded" },
    { "Content-Type": "application/json", "Content-Encoding": "gzip" },
  ] as Record<string, string>[])("must not be sent with %j", (headers) => {
    expect(errorOf(() => readRequest(createPet, requestEvent({ headers, body: "{}" }))).code).toBe(
      "unsupported_media_type",
    );
  });
});

describe("the headers of createPet", () => {
  const body = '{"name":"Rex","categoryId":1}';
  const read = (headers: Record<string, string>) =>
    readRequest(
      createPet,
      requestEvent({ body, headers: { "Content-Type": "application/json", ...headers } }),
    );

  it("are read in any case", () => {
    expect(read({}).headers).toEqual({});
    for (const name of ["Idempotency-Key", "idempotency-key", "IDEMPOTENCY-KEY"]) {
      expect(read({ [name]: '"a"' }).headers).toEqual({ "Idempotency-Key": "a" });
    }
  });

  it("are named when they are invalid", () => {
    expect(errorOf(() => read({ "idempotency-key": "" })).message).toBe(
      "Idempotency-Key must be 1 to 255 printable ASCII characters.",
    );
  });
});

describe("the query of listPets", () => {
  it("defaults to a page of 20, and ignores unknown parameters", () => {
    expect(readQuery({ sort: ["name"], __proto__: ["x"] })).toEqual({ limit: 20 });
  });

  it("accepts every limit from 1 to 100 and no other text", () => {
    for (let limit = 1; limit <= 100; limit++)
      expect(readQuery({ limit: [String(limit)] }).limit).toBe(limit);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer().map(String), fc.float().map(String)), (text) => {
        fc.pre(!/^([1-9]\d?|100)$/.test(text));
        expect(queryError({ limit: [text] }).message).toBe("limit must be an integer from 1 to 100.");
      }),
    );
  });

  it.each(["", "0", "101", "999", "1000", " 5", "5 ", "+5", "05", "5.0", "5e0", "0x5"])(
    "refuses the limit %j",
    (text) => expect(queryError({ limit: [text] }).message).toBe("limit must be an integer from 1 to 100."),
  );

  it("names every invalid parameter at once", () => {
    expect(queryError({ limit: ["0"], status: ["Sold"], cursor: ["next"] }).message).toBe(
      "limit must be an integer from 1 to 100; status must be one of available, pending, sold; " +
        "cursor must be a cursor taken from a Link header of this API.",
    );
  });

  it("refuses a repeated parameter, even with the same value", () => {
    expect(queryError({ status: ["sold", "sold"], limit: ["1", "2"] }).message).toBe(
      "limit must occur only once; status must occur only once.",
    );
  });
});

describe("the path of getPet", () => {
  const petId = (text: string) => readRequest(getPet, requestEvent({ path: { petId: text } })).params.petId;

  it("is any int64, percent-encoded or not", () => {
    expect(petId("42")).toBe(42n);
    expect(petId("%34%32")).toBe(42n);
    expect(petId(String(INT64_MAX))).toBe(INT64_MAX);
    expect(petId(String(INT64_MIN))).toBe(INT64_MIN);
  });

  it("names no pet when it is anything else", () => {
    for (const text of [
      "x",
      "1.0",
      "042",
      "+1",
      "%",
      "%ff",
      "%00",
      String(INT64_MAX + 1n),
      "1%2f2",
      "__proto__",
    ]) {
      expect(errorOf(() => petId(text)).code).toBe("not_found");
    }
  });
});

describe("a link", () => {
  const linkFor = (headers: Record<string, string>, query?: Record<string, string | number | undefined>) =>
    readRequest(listPets, requestEvent({ headers })).link("next", "/pets", query);

  it("has the host that the client used, with HTTPS unless API Gateway says otherwise", () => {
    expect(linkFor({})).toBe('<https://api.example/v1/pets>; rel="next"');
    expect(linkFor({ "X-Forwarded-Proto": "http" })).toBe('<http://api.example/v1/pets>; rel="next"');
    expect(linkFor({ "x-forwarded-proto": "javascript" })).toBe('<https://api.example/v1/pets>; rel="next"');
  });

  it("encodes its query, and leaves out what is undefined", () => {
    expect(linkFor({}, { limit: 5, status: undefined, cursor: "a&b" })).toBe(
      '<https://api.example/v1/pets?limit=5&cursor=a%26b>; rel="next"',
    );
  });
});

describe("the name of a prototype's member", () => {
  const poison = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];

  const members = Reflect.ownKeys(Object.prototype);
  afterEach(() => {
    expect(Reflect.ownKeys(Object.prototype)).toEqual(members);
  });

  it.each(poison)("a body's member %s reaches no prototype", (name) => {
    const value = '{"polluted":1,"status":"sold","prototype":{"polluted":1}}';
    const body = `{"name":"Rex","categoryId":1,"${name}":${value}}`;
    const pet = readRequest(createPet, requestEvent({ body })).body;
    expect(pet).toEqual({ name: "Rex", categoryId: 1n, status: "available" });
    expect(Object.getPrototypeOf(pet)).toBe(Object.prototype);
  });

  it.each(poison)("a body's member %s does not replace the body", (name) => {
    const body = `{"${name}":{"name":"Rex","categoryId":1}}`;
    expect(() => readRequest(createPet, requestEvent({ body }))).toThrow("name is required");
  });

  it.each(poison)("a query's or a path's %s reaches no prototype", (name) => {
    const query = JSON.parse(`{"${name}":["1"],"limit":["5"]}`);
    expect(readRequest(listPets, requestEvent({ query })).query).toEqual({ limit: 5 });
    const path = JSON.parse(`{"${name}":"1","petId":"5"}`);
    expect(readRequest(getPet, requestEvent({ path })).params).toEqual({ petId: 5n });
  });

  it("a header reaches no prototype", () => {
    const headers = JSON.parse('{"__proto__":"application/json","Content-Type":"application/json"}');
    const body = '{"name":"Rex","categoryId":1}';
    expect(readRequest(createPet, requestEvent({ body, headers })).body.name).toBe("Rex");
  });
});
