import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import type { APIGatewayProxyResult } from "aws-lambda";
import { ApiError, type ErrorCode, errors } from "../../../lib/errors.ts";
import { handle } from "../../../lib/http/handle.ts";
import { getPet, listPets } from "../../../lib/operations.ts";
import { context, requestEvent } from "../../support/event.ts";

const lines: Record<string, unknown>[] = [];

beforeEach(() => {
  lines.length = 0;
  jest.spyOn(console, "error").mockImplementation((line) => lines.push(line));
});

afterEach(() => {
  jest.restoreAllMocks();
});

const bodyOf = ({ body }: APIGatewayProxyResult) => JSON.parse(body);
const failing = (error: unknown) =>
  handle(listPets, async () => Promise.reject(error))(requestEvent(), context);

describe("an operation's handler", () => {
  it("answers with the status of its description, JSON and the handler's headers", async () => {
    const run = handle(listPets, async () => ({ body: [], headers: { Link: "<x>" } }));
    expect(await run(requestEvent(), context)).toEqual({
      statusCode: 200,
      headers: { "Content-Type": "application/json", "Cache-Control": "no-store", Link: "<x>" },
      body: "[]",
    });
  });

  it.each(Object.keys(errors) as ErrorCode[])(
    "renders the error %s with its status and message",
    async (code) => {
      const { status, message } = errors[code];
      const answer = await failing(new ApiError(code));
      expect(answer.statusCode).toBe(status);
      expect(bodyOf(answer)).toEqual({ code, message, status });
    },
  );

  it("says when to try again where that helps", async () => {
    expect((await failing(new ApiError("unavailable"))).headers).toMatchObject({ "Retry-After": "1" });
    expect((await failing(new ApiError("internal_error"))).headers).not.toHaveProperty("Retry-After");
  });

  it("tells the client nothing of an error that it does not know", async () => {
    for (const error of [
      new Error("secret"),
      new TypeError("secret"),
      "secret",
      undefined,
      null,
      { code: "gone" },
    ]) {
      const answer = await failing(error);
      expect(answer.statusCode).toBe(500);
      expect(bodyOf(answer)).toEqual({
        code: "internal_error",
        message: "Something went wrong on our side.",
        status: 500,
      });
    }
  });

  it("answers 503 just before Lambda would end it", async () => {
    const hang = handle(listPets, () => new Promise(() => undefined));
    const answer = await hang(requestEvent(), { ...context, getRemainingTimeInMillis: () => 510 });
    expect([answer.statusCode, bodyOf(answer).code]).toEqual([503, "unavailable"]);
  });
});

describe("the log", () => {
  it("has one line for a 5xx: operation, status, version of the function, caller and latency", async () => {
    process.env.AWS_LAMBDA_FUNCTION_VERSION = "7";
    let now = 1000;
    const run = handle(
      listPets,
      async () => {
        now += 25;
        throw new ApiError("unavailable");
      },
      () => now,
    );
    await run(requestEvent(), context);
    delete process.env.AWS_LAMBDA_FUNCTION_VERSION;
    expect(lines).toEqual([
      {
        operation: "listPets",
        status: 503,
        version: "7",
        keyId: "key_test",
        requestId: "request-1",
        latencyMs: 25,
        error: expect.objectContaining({ name: "ApiError", code: "unavailable" }),
      },
    ]);
  });

  it.each([400, 401, 403, 404, 410, 413, 415, 422, 429])("has no line for a %d", async (status) => {
    for (const code of Object.keys(errors) as ErrorCode[]) {
      if (errors[code].status === status) await failing(new ApiError(code));
    }
    await handle(listPets, async () => ({ body: [] }))(requestEvent(), context);
    expect(lines).toEqual([]);
  });

  it("names an unknown error and where it was thrown, but never repeats a message", async () => {
    await failing(new Error("outer secret", { cause: new SyntaxError("inner secret") }));
    expect(lines).toMatchObject([{ status: 500, error: { name: "Error", cause: { name: "SyntaxError" } } }]);
    expect(JSON.stringify(lines)).toContain("handle.test.ts");
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  it("holds nothing of what the client sent", async () => {
    const run = handle(listPets, async () => Promise.reject(new ApiError("internal_error")));
    const query = { unknown: ["canary"] };
    await run(requestEvent({ query, headers: { Authorization: "canary" }, body: "canary" }), context);
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain("canary");
  });
});

describe("a deprecated operation", () => {
  const sunset = getPet.deprecation.sunset.getTime();
  const at = (now: number) =>
    handle(
      getPet,
      async () => Promise.reject(new ApiError("not_found")),
      () => now,
    )(requestEvent({ path: { petId: "1" } }), context);
  const announcement = {
    Deprecation: "@1795132800",
    Sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
    Link: '<https://api.example/v1/pets>; rel="successor-version"',
  };

  it("works and announces its end until the last millisecond", async () => {
    const answer = await at(sunset - 1);
    expect(answer.statusCode).toBe(404);
    expect(answer.headers).toMatchObject(announcement);
  });

  it("is gone from its sunset on, whatever it is asked", async () => {
    for (const now of [sunset, sunset + 1, sunset + 1e12]) {
      const answer = await at(now);
      expect(answer.statusCode).toBe(410);
      expect(bodyOf(answer)).toEqual({ code: "gone", message: errors.gone.message, status: 410 });
      expect(answer.headers).toMatchObject(announcement);
    }
  });
});
