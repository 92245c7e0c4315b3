import { describe, expect, it } from "@jest/globals";
import { errorBody } from "../../lib/errors.ts";
import { undocumented } from "./documented.ts";

const pet = { id: 1, name: "Rex", categoryId: 1, status: "sold" };
const tooMany = errorBody("too_many_requests");
const notFound = errorBody("not_found");
const response = (status: number, body: unknown, headers: Record<string, string> = {}) => ({
  status,
  body,
  headers: new Headers({ "Cache-Control": "no-store", ...headers }),
});

// The comparison that every call of this suite runs, on responses that no service should return.
describe("undocumented", () => {
  it("finds nothing in a response that is as described", () => {
    expect(undocumented("GET", "/pets", response(200, [pet]))).toEqual([]);
    expect(undocumented("POST", "/pets", response(201, pet))).toEqual([]);
    expect(undocumented("DELETE", "/pets", response(405, errorBody("method_not_allowed")))).toEqual([]);
    expect(undocumented("HEAD", "/pets", response(405, undefined))).toEqual([]);
  });

  const extra = "GET /pets 200: its body: data/0 must NOT have additional properties";
  const missing = "data must have required property 'code', data must have required property 'status'";
  const [lost, soon] = [{ ...notFound, code: "lost" }, { "Retry-After": "soon" }];
  it.each([
    ["GET", "/pets", response(202, [pet]), "GET /pets has no 202"],
    ["GET", "/pets", response(200, pet), "GET /pets 200: its body: data must be array"],
    [
      "POST",
      "/pets",
      response(201, { ...pet, id: "1" }),
      "POST /pets 201: its body: data/id must be integer",
    ],
    ["GET", "/pets", response(200, [{ ...pet, a: 1 }]), extra],
    ["GET", "/pets/1", response(200, pet), "GET /pets/{petId} 200: no header Sunset"],
    ["GET", "/pets", response(429, tooMany), "GET /pets 429: no header Retry-After"],
    ["GET", "/pets", response(429, tooMany, soon), "GET /pets 429: Retry-After is not an integer"],
    ["GET", "/store/orders", response(200, []), "GET /store/orders is not an operation, but returned 200"],
    ["GET", "/store/orders", response(404, { message: "no" }), `its body: ${missing}`],
    ["GET", "/cats", response(404, lost), "its body: data/code must be equal to one of the allowed values"],
  ])("finds in %s %s %j: %s", (method, path, given, difference) => {
    expect(undocumented(method, path, given)).toContain(difference);
  });
});
