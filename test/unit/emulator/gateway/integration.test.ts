import { afterEach, expect, it, jest } from "@jest/globals";
import { respondFromMock, respondFromProxy } from "../../../../emulator/gateway/integration.ts";
import type { FunctionPool } from "../../../../emulator/lambda/pool.ts";

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
  await respondFromProxy({ invoke: async () => ({}) } as unknown as FunctionPool, "{}");
  expect(jest.getTimerCount()).toBe(0);
});

it("finds the request template of a mock for a media type in any case and with any parameters", () => {
  const response = { status: 404, headers: {}, body: "{}" };
  const mock = { type: "MOCK" as const, mediaTypes: ["application/json", "text/plain"], response };
  for (const type of ["application/json", "Application/JSON; charset=utf-8", " TEXT/plain "])
    expect(respondFromMock(mock, type)).toMatchObject({ value: { status: 404 } });
  expect(respondFromMock(mock, "image/png")).toMatchObject({ refusal: "UNSUPPORTED_MEDIA_TYPE" });
});
