import { afterEach, expect, it, jest } from "@jest/globals";
import type { RequestContext } from "../../../emulator/gateway/context.ts";
import { respondFromMock, respondFromProxy } from "../../../emulator/gateway/integration.ts";

afterEach(() => void jest.useRealTimers());

it("ends an integration that exceeds API Gateway's 29 seconds", async () => {
  jest.useFakeTimers();
  const context = {} as RequestContext;
  const settled = jest.fn();
  const response = respondFromProxy(() => new Promise(() => undefined), context).catch((error) => error);
  void response.then(settled);

  await jest.advanceTimersByTimeAsync(28_999);
  expect(settled).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  // Lambda has not answered: API Gateway knows neither its status nor the id of the invocation.
  expect(await response).toMatchObject({ message: "INTEGRATION_TIMEOUT" });
  expect(context).toEqual({ integrationLatency: expect.any(Number) });
  await respondFromProxy(async () => ({ statusCode: 200, body: "" }), context);
  expect(jest.getTimerCount()).toBe(0);
});

it("finds a mock's request template for a media type in any case, with any parameters", () => {
  const response = { status: 404, headers: {}, body: "{}" };
  const mock = { type: "MOCK" as const, mediaTypes: ["application/json", "text/plain"], response };
  for (const type of ["application/json", "Application/JSON; charset=utf-8", " TEXT/plain "])
    expect(respondFromMock(mock, type)).toBe(response);
  expect(() => respondFromMock(mock, "image/png")).toThrow("UNSUPPORTED_MEDIA_TYPE");
});
