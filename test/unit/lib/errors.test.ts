import { expect, it } from "@jest/globals";
import { ApiError, type ErrorCode, errorBody, errorHeaders, errors } from "../../../lib/errors.ts";

const codes = Object.keys(errors) as ErrorCode[];
const retryLater = { "Retry-After": "1" };

// Contract 6.2, 7.2 and 7.4.
it("is the closed set of codes, with the status and the headers of each code", () => {
  expect(codes.map((code) => [code, errors[code].status, errorHeaders(code)])).toEqual([
    ["invalid_request", 400, {}],
    ["unauthorized", 401, { "WWW-Authenticate": 'Bearer realm="animal-store"' }],
    ["forbidden", 403, {}],
    ["not_found", 404, {}],
    ["method_not_allowed", 405, {}],
    ["gone", 410, {}],
    ["payload_too_large", 413, {}],
    ["unsupported_media_type", 415, {}],
    ["idempotency_mismatch", 422, {}],
    ["too_many_requests", 429, retryLater],
    ["internal_error", 500, {}],
    ["unavailable", 503, retryLater],
    ["timeout", 504, {}],
  ]);
});

it.each(codes)("%s says in whole sentences what is wrong", (code) => {
  const { message } = new ApiError(code);
  expect(message).toMatch(/^[A-Z].*\.$/);
  expect(errorBody(code)).toEqual({ code, message, status: errors[code].status });
});

it("names the limit of a body in the unit of contract 4.6", () => {
  expect(errors.payload_too_large.message).toContain("at most 16 KiB");
});

it("can say more than its code, and has its cause for the log", () => {
  const cause = new Error("cause");
  const error = new ApiError("gone", { message: "Away.", cause });
  expect([error.name, error.code, error.message, error.cause]).toEqual(["ApiError", "gone", "Away.", cause]);
  expect(errorBody("gone", "Away.")).toEqual({ code: "gone", message: "Away.", status: 410 });
});
