import { describe, expect, it } from "@jest/globals";
import { errorBody } from "../../lib/errors.ts";
import { undocumented } from "./documented.ts";

const pet = { id: 1, name: "Rex", categoryId: 1, status: "sold" };
const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => ({
  status,
  body,
  headers: new Headers(headers),
});

// The comparison that every call of this suite runs, on answers that no service should give.
describe("undocumented", () => {
  it("finds nothing where an answer is as described", () => {
    expect(undocumented("GET", "/pets", answer(200, [pet]))).toEqual([]);
    expect(undocumented("POST", "/pets", answer(201, pet))).toEqual([]);
    expect(undocumented("DELETE", "/pets", answer(405, errorBody("method_not_allowed")))).toEqual([]);
    expect(undocumented("HEAD", "/pets", answer(405, undefined))).toEqual([]);
  });

  it.each([
    ["a status that is not listed", "GET", "/pets", answer(202, [pet])],
    ["a body of another schema", "GET", "/pets", answer(200, pet)],
    ["a value of another type", "POST", "/pets", answer(201, { ...pet, id: "1" })],
    ["a value that is not in the enum", "POST", "/pets", answer(201, { ...pet, status: "lost" })],
    ["a member that is not described", "GET", "/pets", answer(200, [{ ...pet, owner: "me" }])],
    ["a header that is missing", "GET", "/pets/1", answer(200, pet)],
    ["a wait that is missing", "GET", "/pets", answer(429, errorBody("too_many_requests"))],
    [
      "a wait that is no number",
      "GET",
      "/pets",
      answer(429, errorBody("too_many_requests"), { "Retry-After": "soon" }),
    ],
    ["success of what is no operation", "GET", "/store/orders", answer(200, [])],
    ["another body where there is no operation", "GET", "/store/orders", answer(404, { message: "no" })],
    [
      "a code that is not in the set",
      "GET",
      "/cats",
      answer(404, { ...errorBody("not_found"), code: "lost" }),
    ],
  ])("finds %s", (_what, method, path, given) => {
    expect(undocumented(method, path, given)).toHaveLength(1 + Number(path === "/pets/1") * 2);
  });
});
