import { describe, expect, it } from "@jest/globals";
import * as z from "zod/mini";
import { encodeCursor } from "../../../lib/cursor.ts";
import { type ErrorCode, errors } from "../../../lib/errors.ts";
import { readRequest } from "../../../lib/http/request.ts";
import { BODY_LIMIT, NAME_LIMIT, PAGE_SIZE } from "../../../lib/limits.ts";
import { API_VERSION } from "../../../lib/operation.ts";
import { createPet } from "../../../lib/operations/create-pet.ts";
import { getPet } from "../../../lib/operations/get-pet.ts";
import { listPets } from "../../../lib/operations/list-pets.ts";
import { PetStatus } from "../../../lib/pet.ts";
import { requestEvent } from "../../support/event.ts";

/** The error that reading a request throws. */
const refused = (code: ErrorCode, message: string = errors[code].message) =>
  expect.objectContaining({ name: "ApiError", code, message });
const invalid = (...rules: string[]) => refused("invalid_request", `${rules.join("; ")}.`);

const readBody = (body: string | null, headers?: Record<string, string | string[]>) =>
  readRequest(createPet, requestEvent({ body, ...(headers && { headers }) })).body;
const readQuery = (query: Record<string, string[]>) => readRequest(listPets, requestEvent({ query })).query;

const rex = '{"name":"Rex","categoryId":1}';
const nameRule = `must be a string of 1 to ${NAME_LIMIT} characters of well-formed Unicode`;
const statusRule = `must be one of ${PetStatus.options.join(", ")}`;
const categoryRule = "must be an integer from -9223372036854775808 to 9223372036854775807";

describe("the body of createPet", () => {
  it("is refused with a message that names every member and not the value", () => {
    const rules = [`name ${nameRule}`, `categoryId ${categoryRule}`, `status ${statusRule}`];
    expect(() => readBody('{"name":1,"categoryId":"1","status":"1"}')).toThrow(invalid(...rules));
    const required = [`name is required and ${nameRule}`, `categoryId is required and ${categoryRule}`];
    expect(() => readBody("{}")).toThrow(invalid(...required));
  });

  it("can have the bytes of the limit, and not one more", () => {
    const start = '{"name":"Rex","categoryId":1,"note":"é';
    const fill = BODY_LIMIT - Buffer.byteLength(start) - 2;
    expect(readBody(`${start}${"x".repeat(fill)}"}`).name).toBe("Rex");
    const body = `${start}${"x".repeat(fill + 2)}"`; // not JSON either
    expect(() => readBody(body)).toThrow(refused("payload_too_large"));
    expect(() => readBody(body, { "Content-Type": "x" })).toThrow(refused("unsupported_media_type"));
  });

  it("is UTF-8, which API Gateway can send in base64", () => {
    const read = (hex: string) => {
      const bytes = Buffer.from(
        Buffer.from(rex.replace("Rex", "$")).toString("hex").replace("24", hex),
        "hex",
      );
      return readRequest(createPet, requestEvent({ body: bytes.toString("base64"), isBase64Encoded: true }))
        .body;
    };
    expect(read("c3a9").name).toBe("é");
    for (const hex of ["80", "c0af", "eda080", "f4908080"])
      expect(() => read(hex)).toThrow("The body must be well-formed JSON");
    expect(() => readBody(`\uFEFF${rex}`)).toThrow("The body must be well-formed JSON"); // a byte order mark
  });

  it("can be sent as JSON in UTF-8 only, whatever the case and the other parameters", () => {
    const equal = ['application/json;charset="UTF-8"', "application/json ; x-charset=latin1;"];
    for (const type of ["APPLICATION/JSON", ...equal])
      expect(readBody(rex, { "cOnTeNt-TyPe": type, "Content-Encoding": "Identity" }).name).toBe("Rex");
    const types = ["application/jsonp", "x-application/json", "application/json; Charset=utf-8x"];
    const repeated = [["application/json", "text/plain"], "application/json; charset=utf-8; charset=utf-16"];
    for (const type of [...types, ...repeated, "application/json; charset=latin1"])
      expect(() => readBody(rex, { "Content-Type": type })).toThrow(refused("unsupported_media_type"));
    expect(() => readBody(rex, {})).toThrow(refused("unsupported_media_type"));
    for (const coding of ["br", "identity, gzip", "gzip, identity", ["gzip", "identity"]]) {
      const headers = { "Content-Type": "application/json", "Content-Encoding": coding };
      expect(() => readBody(rex, headers)).toThrow(refused("unsupported_media_type"));
    }
  });
});

it("the headers of createPet are refused when they are repeated, even with the same value", () => {
  const read = (own: Record<string, string | string[]>) =>
    readBody(rex, { "Content-Type": "application/json", ...own });
  const error = invalid("Idempotency-Key must not be repeated");
  for (const value of ["a", "b"]) {
    expect(() => read({ "idempotency-key": ["a", value] })).toThrow(error);
    expect(() => read({ "idempotency-key": "a", "Idempotency-Key": value })).toThrow(error);
  }
});

it("the message names every query parameter that is invalid, or repeated with any value", () => {
  const cursorRule = "cursor must be a cursor taken from a Link header of this API";
  const { minimum, maximum } = PAGE_SIZE;
  const limitRule = `limit must be an integer from ${minimum} to ${maximum}`;
  const rules = [limitRule, `status ${statusRule}`, cursorRule];
  expect(() => readQuery({ limit: ["0"], status: ["Sold"], cursor: ["next"] })).toThrow(invalid(...rules));
  const cursor = encodeCursor(1n);
  const repeated = ["limit", "status", "cursor"].map((name) => `${name} must not be repeated`);
  const twice = { limit: ["5", "5"], status: ["sold", "sold"], cursor: [cursor, cursor] };
  expect(() => readQuery(twice)).toThrow(invalid(...repeated));
});

it("a message has the path of a field, and a rule once for all elements", () => {
  const body = z.object({ tags: z.array(z.object({ text: z.string("must be a text") })) });
  const event = requestEvent({ body: '{"tags":[{"text":1},{"text":"two"},{"text":3}]}' });
  const error = invalid("tags.text must be a text");
  expect(() => readRequest({ ...createPet, body }, event)).toThrow(error);
});

it("a query that is wrong as a whole is refused as the query", () => {
  const query = listPets.query.check(z.refine(() => false, "must not be sent"));
  const error = invalid("query must not be sent");
  expect(() => readRequest({ ...listPets, query }, requestEvent())).toThrow(error);
});

it("an id in the path can be percent-encoded, and names no pet unless an int64", () => {
  const petId = (text: string) => readRequest(getPet, requestEvent({ path: { petId: text } })).params.petId;
  expect(petId("%34%32")).toBe(42n);
  for (const text of ["%", "%ff", "1%2f2", "%20"]) expect(() => petId(text)).toThrow(refused("not_found"));
});

it("a link has the host that the client used, its scheme, and defined parameters", () => {
  const query = { limit: 5, status: undefined };
  const linkFor = (headers: Record<string, string>) =>
    readRequest(listPets, requestEvent({ headers })).linkHeader("next", "/pets", query);
  expect(linkFor({})).toBe(`<https://api.example/${API_VERSION}/pets?limit=5>; rel="next"`);
  expect(linkFor({ "X-Forwarded-Proto": "http" })).toMatch(`<http://api.example/${API_VERSION}/pets?`);
  expect(linkFor({ "x-forwarded-proto": "javascript" })).toMatch(`<https://api.example/${API_VERSION}/pets?`);
});
