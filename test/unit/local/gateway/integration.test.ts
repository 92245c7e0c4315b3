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
  expect(await response).toMatchObject({ refusal: "INTEGRATION_TIMEOUT" });
});
