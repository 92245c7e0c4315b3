import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import type { APIGatewayProxyResult } from "aws-lambda";
import { ApiError, type ErrorCode, errorBody, errorHeaders, errors } from "../../../lib/errors.ts";
import { createHandler } from "../../../lib/http/handler.ts";
import { describeError } from "../../../lib/log.ts";
import { API_VERSION, type Operation } from "../../../lib/operation.ts";
import { listPets } from "../../../lib/operations/list-pets.ts";
import { EARLY_RESPONSE_MS } from "../../../lib/time-limits.ts";
import { context, requestEvent } from "../../support/event.ts";

const lines: Record<string, unknown>[] = [];

beforeEach(() => {
  lines.length = 0;
  jest.spyOn(console, "error").mockImplementation((line) => lines.push(line));
});

afterEach(() => {
  jest.restoreAllMocks();
});

const codes = Object.keys(errors) as ErrorCode[];
const bodyOf = ({ body }: APIGatewayProxyResult) => JSON.parse(body);
const empty = async (): Promise<{ body: []; headers?: Record<string, string> }> => ({ body: [] });
const failing = (error: unknown) =>
  createHandler(listPets, async () => Promise.reject(error))(requestEvent(), context);

describe("an operation's handler", () => {
  const json = { "Content-Type": "application/json", "Cache-Control": "no-store" };

  // Contract 6.2 and 7.4. every-document-agrees-with-the-code.test.ts has the closed set of codes.
  it.each(codes)(
    "renders the error %s for no cache, with a whole sentence, and what to send or when to retry",
    async (code) => {
      const { statusCode, headers, body } = await failing(new ApiError(code));
      const { message, status } = errors[code];
      expect({ statusCode, body: JSON.parse(body) }).toEqual({
        statusCode: status,
        body: { code, message, status },
      });
      expect(message).toMatch(/^[A-Z].*\.$/);
      const own = { ...(status === 401 && { "WWW-Authenticate": 'Bearer realm="animal-store"' }) };
      const retry = { ...([429, 503].includes(status) && { "Retry-After": expect.stringMatching(/^\d+$/) }) };
      expect(headers).toEqual({ ...json, ...own, ...retry });
    },
  );

  it("hides an unexpected error from the client", async () => {
    for (const error of [new Error("secret"), "secret", undefined, null, { code: "gone" }]) {
      const response = await failing(error);
      expect(response.statusCode).toBe(500);
      expect(bodyOf(response)).toEqual(errorBody("internal_error"));
    }
  });

  it("returns 503 shortly before Lambda would end it, and logs the limit that it has exceeded", async () => {
    let signal: AbortSignal | undefined;
    const hang = createHandler(listPets, (request) => {
      signal = request.signal;
      return new Promise(() => undefined);
    });
    const order: unknown[] = [];
    const note = (what: unknown) => order.push(what);
    const brief = { ...context, getRemainingTimeInMillis: () => EARLY_RESPONSE_MS + 100 };
    // Node runs timers in the order in which they are due, also when it is late.
    await Promise.all([
      hang(requestEvent(), brief).then(note),
      setTimeout(50, "50 ms").then(note),
      setTimeout(150, "150 ms").then(note),
    ]);
    const response = { statusCode: 503, headers: expect.objectContaining(errorHeaders("unavailable")) };
    expect(order).toEqual(["50 ms", expect.objectContaining(response), "150 ms"]);
    expect(bodyOf(order[1] as APIGatewayProxyResult).code).toBe("unavailable");
    expect(signal?.aborted).toBe(true);
    expect(lines).toMatchObject([{ error: { cause: { message: "Timeout: no response within 100 ms." } } }]);
  });
});

it("a key without the scope gets 403, whatever else is wrong", async () => {
  const run = createHandler(listPets, empty);
  const statusFor = async (scopes?: string) => {
    const authorizer = scopes === undefined ? null : { keyId: "key_test", scopes };
    return (await run(requestEvent({ authorizer, query: { limit: ["0"] } }), context)).statusCode;
  };
  for (const scopes of ["pets:read", "pets:write pets:read"]) expect(await statusFor(scopes)).toBe(400);
  for (const scopes of ["", "pets:write", "pets:readx", "pets"]) expect(await statusFor(scopes)).toBe(403);
});

it("a request whose caller is unknown gets 500: its Idempotency-Key would be that of others", async () => {
  const run = createHandler(listPets, empty);
  const scopes = "pets:read";
  for (const authorizer of [null, { scopes }, { keyId: "", scopes }])
    expect(await run(requestEvent({ authorizer }), context)).toMatchObject({ statusCode: 500 });
});

describe("the log", () => {
  const cause = new SyntaxError("secret");
  it.each([
    [500, new Error("Failed.", { cause })],
    [503, new ApiError("unavailable", { cause })],
  ])(
    "has one line for a %i: operation, status, version, caller, latency, and its causes",
    async (status, thrown) => {
      jest.replaceProperty(process, "env", { AWS_LAMBDA_FUNCTION_VERSION: "7" });
      const times = [1000, 1025];
      const failing = async () => Promise.reject(thrown);
      await createHandler(listPets, failing, () => times.shift() ?? 1025)(requestEvent(), context);
      expect(lines).toEqual([
        {
          operation: "listPets",
          status,
          version: "7",
          keyId: "key_test",
          apiRequestId: "request-1",
          latencyMs: 25,
          error: describeError(thrown),
        },
      ]);
    },
  );

  it("has no line for a success or a 4xx", async () => {
    for (const code of codes) if (errors[code].status < 500) await failing(new ApiError(code));
    await createHandler(listPets, empty)(requestEvent(), context);
    expect(lines).toEqual([]);
  });
});

describe("a deprecated operation", () => {
  const sunset = Date.UTC(2030, 0, 1);
  const deprecation = { since: new Date("2029-01-01"), sunset: new Date(sunset), successor: "/animals" };
  const deprecated = { ...listPets, deprecation } as const satisfies Operation;
  const announcement = {
    Deprecation: "@1861920000",
    Sunset: "Tue, 01 Jan 2030 00:00:00 GMT",
    Link: `<https://api.example/${API_VERSION}/animals>; rel="successor-version"`,
  };
  const at = (now: number, request: Parameters<typeof requestEvent>[0] = {}, run = empty) =>
    createHandler(deprecated, run, () => now)(requestEvent(request), context);

  it("works until its sunset, and announces it in every response", async () => {
    const last = await at(sunset - 1);
    expect(last).toMatchObject({ statusCode: 200, headers: announcement });
    const wrong = await at(sunset - 1, { query: { limit: ["0"] } });
    expect(wrong).toMatchObject({ statusCode: 400, headers: announcement });
  });

  it("is gone from its sunset on, whatever else is wrong", async () => {
    const gone = await at(sunset, { query: { limit: ["0"] }, authorizer: { keyId: "key_test", scopes: "" } });
    expect(gone).toMatchObject({ statusCode: 410, headers: announcement });
    expect(bodyOf(gone)).toEqual(errorBody("gone"));
  });

  it("keeps a Link header of its own", async () => {
    const { headers } = await at(0, {}, async () => ({ body: [], headers: { Link: '<x>; rel="next"' } }));
    expect(headers?.Link).toBe(`<x>; rel="next", ${announcement.Link}`);
  });
});

it("an operation without a body returns 204 without content, and cannot return any", async () => {
  const deletePet = {
    id: "deletePet",
    method: "DELETE",
    path: "/pets/{petId}",
    summary: "Delete an animal",
    success: { status: 204, description: "The animal was deleted" },
  } as const satisfies Operation;
  const run = createHandler(deletePet, async () => void (await empty()));
  const { statusCode, headers, body } = await run(requestEvent(), context);
  expect({ statusCode, body }).toEqual({ statusCode: 204, body: "" });
  expect(headers).toEqual({ "Cache-Control": "no-store" }); // no Content-Type
  // @ts-expect-error a 204 has no body
  createHandler(deletePet, async () => ({ body: [] }));
  // @ts-expect-error a 200 has one
  createHandler(listPets, async () => undefined);
});
