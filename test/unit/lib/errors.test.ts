import { expect, it } from "@jest/globals";
import { ApiError, type ErrorCode, errorBody, errorHeaders, errors } from "../../../lib/errors.ts";

const codes = Object.keys(errors) as ErrorCode[];

// Contract 6.2 and 7.4. README.test.ts has the closed set of codes.
it.each(codes)("%s says in whole sentences what is wrong, and what to send or when to retry", (code) => {
  const { message, status } = { ...errors[code], message: new ApiError(code).message };
  expect(message).toMatch(/^[A-Z].*\.$/);
  expect(errorBody(code)).toEqual({ code, message, status });
  const headers = status === 401 ? ["WWW-Authenticate"] : [429, 503].includes(status) ? ["Retry-After"] : [];
  expect(Object.keys(errorHeaders(code))).toEqual(headers);
});
