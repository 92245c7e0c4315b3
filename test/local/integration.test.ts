import type { IncomingMessage } from "node:http";
import { afterEach, expect, it, jest } from "@jest/globals";
import { readStack } from "../../infra/assembly/template.ts";
import { newRequestContext } from "../../local/access-log.ts";
import type { FunctionPool } from "../../local/function-pool.ts";
import { respondFromProxy } from "../../local/integration.ts";
import { createRouter, type RouteMatch } from "../../local/router.ts";

afterEach(() => {
  jest.useRealTimers();
});

it("ends an integration that exceeds API Gateway's 29 seconds with the template's 504", async () => {
  jest.useFakeTimers();
  const stack = readStack(process.env.TEST_ASSEMBLY ?? "", "animal-store-staging");
  const message = {
    method: "GET",
    url: "/v1/pets",
    headers: {},
    rawHeaders: [],
    httpVersion: "1.1",
    socket: {},
  } as unknown as IncomingMessage;
  const request = {
    message,
    method: "GET",
    path: "/pets",
    query: new URLSearchParams(),
    body: Buffer.alloc(0),
  };
  const match = createRouter(stack.routes)("GET", "/pets") as RouteMatch;
  const pool = { invoke: () => new Promise(() => undefined) } as unknown as FunctionPool;
  const settled = jest.fn();
  const response = respondFromProxy(pool, request, match, newRequestContext(message, "v1"), {});
  response.catch(settled);

  await jest.advanceTimersByTimeAsync(28_999);
  expect(settled).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  await expect(response).rejects.toMatchObject({ type: "INTEGRATION_TIMEOUT" });
  expect(stack.gatewayResponses.get("INTEGRATION_TIMEOUT")?.status).toBe(504);
});
