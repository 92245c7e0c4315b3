import { afterEach, expect, it, jest } from "@jest/globals";
import { FunctionError } from "../../../../local/functions/instance.ts";
import type { FunctionPool } from "../../../../local/functions/pool.ts";
import { respondFromMock, respondFromProxy } from "../../../../local/gateway/integration.ts";

afterEach(() => {
  jest.useRealTimers();
});

it("ends an integration that exceeds API Gateway's 29 seconds", async () => {
  jest.useFakeTimers();
  const pool = { invoke: () => new Promise(() => undefined) } as unknown as FunctionPool;
  const settled = jest.fn();
  const response = respondFromProxy(pool, "{}");
  response.then(settled);

  await jest.advanceTimersByTimeAsync(28_999);
  expect(settled).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  // Lambda has not answered: API Gateway knows neither its status nor the id of the invocation.
  expect(await response).toEqual({
    refusal: "INTEGRATION_TIMEOUT",
    variables: { integrationLatency: expect.any(Number) },
  });
});

it.each(["application/json", "Application/JSON; charset=utf-8", " TEXT/plain "])(
  "finds the request template of a mock for the type %j",
  (type) => {
    const response = { status: 404, headers: {}, body: "{}" };
    const mock = { type: "MOCK" as const, mediaTypes: ["application/json", "text/plain"], response };
    expect(respondFromMock(mock, type)).toMatchObject({ value: { status: 404 } });
    expect(respondFromMock(mock, "image/png")).toMatchObject({ refusal: "UNSUPPORTED_MEDIA_TYPE" });
  },
);

it.each([
  undefined,
  {},
  { statusCode: "200", body: "" },
  { statusCode: 200.5, body: "" },
  { statusCode: 200 },
])("reads the result %j as a failure of the integration", async (result) => {
  const pool = { invoke: async () => result } as unknown as FunctionPool;
  expect(await respondFromProxy(pool, "{}")).toMatchObject({ refusal: "INTEGRATION_FAILURE" });
});

it("reads only an error of the function as a failure of the integration", async () => {
  const failing = (error: Error) => ({ invoke: () => Promise.reject(error) }) as unknown as FunctionPool;
  const response = respondFromProxy(failing(new FunctionError("")), "{}");
  expect(await response).toMatchObject({ refusal: "INTEGRATION_FAILURE" });
  await expect(respondFromProxy(failing(new Error("bug")), "{}")).rejects.toThrow("bug");
});
