import { afterEach, expect, it, jest } from "@jest/globals";
import type { FunctionPool } from "../../../../local/functions/pool.ts";
import { respondFromProxy } from "../../../../local/gateway/integration.ts";

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
