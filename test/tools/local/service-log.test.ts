import { expect, it, jest } from "@jest/globals";
import { generateApiKey, KEY_PREFIX } from "../../../lib/api-key.ts";
import { errorBody } from "../../../lib/errors.ts";
import { requestLine } from "../../../tools/local/service-log.ts";

const get = {
  method: "GET",
  url: "/v1/pets?limit=secret",
  status: 200,
  durationMs: 7,
  caller: {},
  body: "[]",
};
const key = generateApiKey("local");
const refusal = JSON.stringify(errorBody("invalid_request", "limit must be an integer."));
const failure = JSON.stringify(errorBody("unavailable"));

it.each([
  [{ caller: { keyId: "key_1" } }, "200      7 ms  GET     /v1/pets  key_1"],
  [
    { status: 400, body: refusal },
    "400      7 ms  GET     /v1/pets  invalid_request  limit must be an integer.",
  ],
  [{ status: 503, body: failure }, "503      7 ms  GET     /v1/pets  unavailable"],
  [{ status: 500, body: "text" }, "500      7 ms  GET     /v1/pets"],
  [{ url: `/\u009b/${key}` }, `200      7 ms  GET     /?/${KEY_PREFIX}_***`],
  [{ url: key.replaceAll("_", "%5F") }, `200      7 ms  GET     ${KEY_PREFIX}_***`],
  [{ url: "a".repeat(99) }, `200      7 ms  GET     ${"a".repeat(60)}`],
])("has one line for a request with %j", (parts, line) => {
  jest.useFakeTimers({ now: Date.UTC(2026, 0, 1, 12) });
  expect(requestLine({ ...get, ...parts })).toBe(`08:30:00  ${line}`); // in the time zone of jest.config.js
  jest.useRealTimers();
});
