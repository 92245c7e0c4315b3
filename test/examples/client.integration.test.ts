import { getEventListeners } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { inspect } from "node:util";
import { afterAll, afterEach, describe, expect, it, jest } from "@jest/globals";
import type * as z from "zod/mini";
import type * as client from "../../examples/client.ts";
import { type ErrorCode, errorBody, errors } from "../../lib/errors.ts";
import { parseJson } from "../../lib/http/json.ts";
import { INT64_MAX } from "../../lib/int64.ts";
import { API_VERSION } from "../../lib/operation.ts";
import type { listPets } from "../../lib/operations/list-pets.ts";
import { operations } from "../../lib/operations.ts";
import type { NewPet, Pet, PetStatus } from "../../lib/pet.ts";
import { openApiDocument } from "../../openapi/document.ts";
import { eventually } from "../support/eventually.ts";
import { exampleRequest } from "../support/example-request.ts";
import { listen } from "../support/listen.ts";
import { shared } from "../support/shared.ts";

/** How the client pauses before a retry. */
let pause = setTimeout;
jest.unstable_mockModule("node:timers/promises", () => ({
  setTimeout: (...parameters: Parameters<typeof setTimeout>) => pause(...parameters),
}));
const { petStore } = await import("../../examples/client.ts");

// The client has types of its own, so that it is one file. They are those from which openapi.json is generated.

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** The members to change in examples/client.ts: those that only one type has, or that are optional or other ones in one. */
type ToChangeInTheClient<A, B> = {
  [K in keyof (A & B) as Same<Pick<A, K & keyof A>, Pick<B, K & keyof B>> extends true ? never : K]: never;
};
/** The compiler names the members. */
function expectSame<A, B>(_none: ToChangeInTheClient<A, B>): void {}

expectSame<client.Pet, Pet>({});
expectSame<client.NewPet, z.input<typeof NewPet>>({});
// The client follows the links, and calls the `limit` of a request what it is to a reader of all pages.
type Query = Omit<z.output<typeof listPets.query>, "cursor" | "limit"> & { pageSize: number };
expectSame<client.PetFilter, Partial<Query>>({});
expectSame<Record<client.PetStatus, 1>, Record<PetStatus, 1>>({});
expectSame<Record<client.ErrorCode, 1>, Record<ErrorCode, 1>>({});

const baseUrl = shared.baseUrl;
const apiKey = shared.key;
const store = petStore({ baseUrl, apiKey });
type Store = typeof store;
const rex: client.NewPet = { name: "Rex", categoryId: 1n };

describe("examples/client.ts", () => {
  it("adds animals and lists them page by page, with every integer exact", async () => {
    const added: client.Pet[] = [];
    for (const categoryId of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 0n, 1n, 2n, 3n]) {
      const pet: client.NewPet = { name: "Rex", categoryId, status: "pending" };
      const returned = await store.add(pet);
      expect(returned).toEqual({ ...pet, id: expect.anything() });
      added.push(returned);
    }
    // A member that is undefined is left out.
    const { id: other } = await store.add({ ...rex, status: undefined });
    await eventually(
      async () => {
        const listed: client.Pet[] = [];
        for await (const pet of store.list({ pageSize: 5, status: "pending" })) listed.push(pet);
        return listed;
      },
      (listed) =>
        expect(listed.filter(({ id }) => id === other || added.some((pet) => pet.id === id))).toEqual(added),
    );
  });

  it("throws the error that the API returns, with the request id", async () => {
    const requestId = expect.stringMatching(/\S/);
    const invalid = { code: "invalid_request", status: 400, requestId };
    await expect(store.add({} as client.NewPet)).rejects.toMatchObject(invalid);
    await expect(store.list({ pageSize: 0 }).next()).rejects.toMatchObject(invalid);
  });
});

/** What a service does with a request instead of returning a 201. */
type Fault =
  | ErrorCode
  | { status: number; headers?: Record<string, string>; body: string }
  | (() => void)
  | "connection lost"
  | "body lost"
  | "no response";

let faults: Fault[] = [];
let received: { method?: string; url?: string; idempotencyKey: unknown; body: string }[] = [];
let retryAfter: number | string = 0;
let attempt = new AbortController();

/** A service that has one of the `faults` per request, and then works. */
const server = createServer(async (request, response) => {
  const fault = faults[received.length];
  const body = await text(request);
  const { method, url, headers } = request;
  received.push({ method, url, idempotencyKey: headers["idempotency-key"], body });
  if (fault === "connection lost") return void request.socket.destroy();
  if (fault === "no response") return attempt.abort(new DOMException("No response.", "TimeoutError"));
  if (typeof fault === "function") return fault();
  if (typeof fault === "object") return void response.writeHead(fault.status, fault.headers).end(fault.body);
  if (fault && fault !== "body lost") {
    response.writeHead(errors[fault].status, { "Retry-After": retryAfter });
    return void response.end(JSON.stringify(errorBody(fault)));
  }
  const json = JSON.stringify({ id: 1, status: "available", ...JSON.parse(body) });
  response.writeHead(201, { "Content-Length": json.length });
  if (fault) return void response.write(json.slice(0, 5), () => request.socket.destroy());
  response.end(json);
});
const { origin, close } = await listen(server);
afterAll(close);
afterEach(() => void jest.restoreAllMocks());

/** Sets the faults of the service. For its client, only the pauses take time, and `sleep` after each of them. */
function faultyService(wanted: Fault[], wait: number | string = 0, sleep = 0) {
  [faults, received, retryAfter] = [wanted, [], wait];
  jest.spyOn(AbortSignal, "timeout").mockImplementation(() => {
    attempt = new AbortController();
    return attempt.signal;
  });
  const pauses: number[] = [];
  let now = performance.now();
  jest.spyOn(performance, "now").mockImplementation(() => now);
  pause = (milliseconds = 0, ...rest) => {
    pauses.push(milliseconds);
    now += milliseconds + sleep;
    return setTimeout(0, ...rest);
  };
  const store = (options: Partial<client.ClientOptions> = {}) =>
    petStore({ baseUrl: `${origin}/v1`, apiKey: "key", ...options });
  return { store, pauses };
}

type Current = Exclude<(typeof operations)[number], { deprecation: unknown }>;
/** Calls the method of examples/client.ts for each operation that is not deprecated. */
const methodsOfTheClient: Record<
  Current["id"],
  (store: Store, sent: { query: object; body: unknown }) => unknown
> = {
  listPets: (store, { query: { limit: pageSize, ...query } }: { query: { limit?: number } }) =>
    store.list({ ...query, pageSize }).next(),
  createPet: (store, { body }) => store.add(body as client.NewPet),
};

it.each(operations.filter((one): one is Current => !("deprecation" in one)))(
  "examples/client.ts sends every parameter of $id, except for the cursor, which is in the links",
  async (operation) => {
    const { query, body } = exampleRequest(operation);
    delete query.cursor;
    const { status } = operation.success;
    const { store } = faultyService([{ status, body: status === 200 ? "[]" : '{"id":1,"categoryId":1}' }]);
    await methodsOfTheClient[operation.id](store(), { query, body: body && parseJson(body) });
    const { pathname, searchParams } = new URL(received[0]?.url ?? "", origin);
    expect({ ...received[0], path: pathname, query: Object.fromEntries(searchParams) }).toMatchObject({
      method: operation.method,
      path: `/${API_VERSION}${operation.path}`,
      query,
      body: body ?? "",
    });
  },
);

const page = (id: number, link: string) => ({
  status: 200,
  headers: { Link: `<http://other/v1/pets?cursor=a>; rel="prev", <${link}` },
  body: `[{"id":${id}},{"id":${id + 1}}]`,
});

describe("the responses that examples/client.ts reads", () => {
  it("have bigint members where openapi.json describes an int64, and nowhere else", async () => {
    const { properties } = openApiDocument().components.schemas.Pet as {
      properties: Record<string, { format?: string }>;
    };
    const fields = Object.keys(properties).map((name) => `"${name}" :\n${-INT64_MAX}`);
    const body = `{${fields},"owner":{"id":"o-1","categoryId":null},"tags":[{"id":1.5},{"id":2}]}`;
    const { store } = faultyService([body, `[${body}]`].map((body) => ({ status: 200, body })));
    for (const pet of [await store().add(rex), (await store().list().next()).value]) {
      const exact = Object.keys(pet).filter((name) => pet[name] === -INT64_MAX);
      expect(exact).toEqual(Object.keys(properties).filter((name) => properties[name]?.format === "int64"));
      expect(pet).toMatchObject({ owner: { id: "o-1", categoryId: null }, tags: [{ id: 1.5 }, { id: 2 }] });
    }
  });

  it("link to the next page, which the client gets when needed, never from another host", async () => {
    const { store } = faultyService([
      page(1, 'http://other/v1/pets?limit=2&cursor=b>; rel="next"'),
      page(3, '/v1/pets?cursor=c#d>; rel="next"'), // relative (RFC 8288, 3.1)
      page(5, '>; rel="first"'),
    ]);
    const urls = [];
    for await (const { id } of store().list({ pageSize: 2, status: "sold" }))
      urls.push(`${id} ${received.at(-1)?.url}`);
    const queries = ["limit=2&status=sold", "limit=2&cursor=b", "cursor=c"];
    expect(urls).toEqual([1, 2, 3, 4, 5, 6].map((id, n) => `${id} /v1/pets?${queries[Math.floor(n / 2)]}`));
  });

  it.each(["", "?", "?cursor=", "/v1/pets?limit=2", "http://[?cursor=b"])(
    "cannot make a list endless by a link to %j, after one to ?cursor=b",
    async (link) => {
      const pages = [page(1, '?cursor=b>; rel="next"'), ...Array(9).fill(page(3, `${link}>; rel="next"`))];
      const ids: bigint[] = [];
      const { store } = faultyService(pages);
      const listing = async () => {
        for await (const { id } of store().list()) ids.push(id);
      };
      await expect(listing()).rejects.toMatchObject({ name: "PetStoreError", status: 200 });
      expect(ids).toEqual([1n, 2n, 3n, 4n]);
      expect(received).toHaveLength(2);
    },
  );

  const Location = `${origin.replace("127.0.0.1", "localhost")}/v1/pets`; // another origin of the same server
  const noError = ["null", "[]", "1", "<html>", "", '{"code":{"a":1},"message":{"a":1}}'];
  const noPet = ["<html>", "null", "[null]", '[{"name":"Rex"}]', '{"id":"1"}', '{"id":1,"categoryId":1.5}'];
  it.each([
    ...noError.map((body) => ({ status: 413, body })),
    ...noPet.map((body) => ({ status: 200, body })),
    ...[307, 308].map((status) => ({ status, body: "", headers: { Location } })),
    ...[204, 304].map((status) => ({ status, body: "" })),
  ])("can be of something else than the API: %j", async (response) => {
    for (const call of ["add", "list"] as const) {
      const { store } = faultyService([response]);
      const sent = call === "add" ? store().add(rex) : store().list().next();
      const error = await sent.catch(({ name, status, message, code }) => ({ name, status, message, code }));
      const { status } = response;
      const message = `The response has status ${status}${status < 300 ? ", but no animals" : ""}.`;
      expect(error).toEqual({ name: "PetStoreError", status, message });
      expect(received).toHaveLength(1);
    }
  });
});

describe("the retries of examples/client.ts", () => {
  it.each<Fault>([
    "connection lost",
    "body lost",
    "no response",
    "too_many_requests",
    "internal_error",
    { status: 502, body: "<html>Bad gateway</html>" },
    "unavailable",
    "timeout",
  ])("repeat the same request, so that they add one animal, after: %j", async (fault) => {
    const { store } = faultyService([fault, fault]);
    const { add } = store();
    expect(await add(rex)).toEqual({ ...rex, id: 1n, status: "available" });
    expect(received).toHaveLength(3);
    expect(received[0]?.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(received.map((request) => JSON.stringify(request))).size).toBe(1);
    await add(rex);
    expect(received[3]?.idempotencyKey).not.toBe(received[0]?.idempotencyKey); // of another animal
  });

  it("belong to one call, which has its own deadline and pages", async () => {
    const { store, pauses } = faultyService([]);
    const { add, list } = store({ deadline: 1000 });
    performance.now = () => 10 ** 9; // long after the client was made
    faults = ["unavailable"];
    await add(rex);
    expect(pauses).toHaveLength(1);
    const pages = [page(1, '?cursor=b>; rel="next"'), { status: 200, body: "[]" }];
    for (const _list of ["first", "second"]) {
      [faults, received] = [pages, []];
      const ids: bigint[] = [];
      for await (const { id } of list()) ids.push(id);
      expect(ids).toEqual([1n, 2n]);
    }
  });

  it("end when the caller gives up, during an attempt and during a pause", async () => {
    for (const call of ["add", "list"] as const) {
      const [attempted, paused] = [new AbortController(), new AbortController()];
      const { store } = faultyService([() => attempted.abort(new Error("attempt")), "unavailable"], 30);
      pause = (...parameters) => {
        queueMicrotask(() => paused.abort(new Error("pause")));
        return setTimeout(...parameters);
      };
      for (const { signal } of [attempted, paused]) {
        const sent = call === "add" ? store().add(rex, { signal }) : store().list({}, { signal }).next();
        const error = await sent.catch((error) => error);
        expect(call === "add" ? error.cause : error).toBe(signal.reason);
      }
      expect(received).toHaveLength(2);
    }
  });

  it.each([new Error("stop"), Object.freeze(new Error("stop")), "stop", null])(
    "can go on with each animal's key after one signal has ended several calls: %p",
    async (reason) => {
      const controller = new AbortController();
      const abort = () => void (received.length === 3 && controller.abort(reason));
      const { add } = faultyService([abort, abort, abort]).store();
      const pets: client.NewPet[] = [rex, rex, { ...rex, name: "Tom" }];
      const adding = pets.map((pet) => add(pet, controller).catch((error) => error));
      const errors: client.AddError[] = await Promise.all(adding);
      expect(errors.map(({ cause }) => cause)).toEqual([reason, reason, reason]);
      for (const [n, pet] of pets.entries()) await add(pet, errors[n]);
      expect(received).toHaveLength(6);
      expect(new Set(received.map((request) => JSON.stringify(request))).size).toBe(3);
    },
  );

  it("leave no listener on the caller's signal, which can serve many calls", async () => {
    const { signal } = new AbortController();
    const add = jest.spyOn(signal, "addEventListener");
    const { store } = faultyService(["unavailable", "unavailable"]);
    await store().add(rex, { signal });
    expect(add).toHaveBeenCalledTimes(2);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("can go on after the deadline, with the key of the error", async () => {
    const { store } = faultyService(["unavailable", ...Array<Fault>(1000).fill("connection lost")]);
    const error: client.AddError = await store()
      .add(rex)
      .catch((error) => error);
    expect(error).toMatchObject({ message: "fetch failed", idempotencyKey: received[0]?.idempotencyKey });
    faults = []; // the service is back
    await store().add(rex, error);
    expect(received.at(-1)).toEqual(received[0]);
  });

  it.each<ErrorCode>(["invalid_request", "unauthorized", "forbidden", "idempotency_mismatch", "gone"])(
    "do not repeat what cannot succeed: %s",
    async (fault) => {
      const { store } = faultyService([fault]);
      await expect(store().add(rex)).rejects.toMatchObject({ code: fault });
      expect(received).toHaveLength(1);
    },
  );

  it("do not repeat an invalid option", async () => {
    const { store, pauses } = faultyService([]);
    const urls = ["localhost/v1", "ftp://a/v1", "http:a/v1", "http://user:secret@a/v1", "http://[/v1"];
    for (const option of [...urls.map((baseUrl) => ({ baseUrl })), { apiKey: "secret\nkey" }]) {
      const error = await store(option)
        .list()
        .next()
        .catch((error) => error);
      expect({ option, message: error.message }).toEqual({
        option,
        message: expect.stringMatching(/invalid/i),
      });
      expect(inspect(error)).not.toContain("secret");
    }
    expect(pauses).toEqual([]);
  });

  it.each([
    7,
    "Sun, 06 Nov 1994 08:49:44 GMT", // the three forms of a date (RFC 9110, 5.6.7)
    "Sunday, 06-Nov-94 08:49:44 GMT",
    "Sun Nov  6 08:49:44 1994",
  ])("wait as long as Retry-After says, and a random time on top: %s", async (wait) => {
    jest.spyOn(Math, "random").mockReturnValue(0.5);
    jest.spyOn(Date, "now").mockReturnValue(Date.UTC(1994, 10, 6, 8, 49, 37));
    const { store, pauses } = faultyService(["unavailable", "too_many_requests", "unavailable"], wait);
    await store().add(rex);
    const [first = 0, ...others] = pauses.map((pause) => pause - 7000);
    expect(first).toBeGreaterThan(0);
    expect(others).toEqual([2 * first, 4 * first]);
  });

  const past = "Sun, 06 Nov 1994 08:49:37 GMT";
  it.each([0, -1, "soon", past])("pause longer and longer, and end before the deadline: %s", async (wait) => {
    jest.spyOn(Math, "random").mockReturnValue(1);
    const timeout = jest.spyOn(AbortSignal, "timeout");
    const [deadline, attemptTimeout] = [30_000, 7000];
    const { store, pauses } = faultyService(Array(1000).fill("internal_error"), wait);
    const adding = store({ deadline, attemptTimeout }).add(rex);
    await expect(adding).rejects.toMatchObject({ code: "internal_error" });
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(received).toHaveLength(pauses.length + 1);
    const starts = [0, ...pauses.map((_, n) => pauses.slice(0, n + 1).reduce((sum, pause) => sum + pause))];
    const timeouts = starts.map((start) => Math.min(attemptTimeout, deadline - start));
    expect(timeout.mock.calls.flat()).toEqual(timeouts);
    expect((starts.at(-1) ?? 0) + (pauses.at(-1) ?? 0)).toBeGreaterThanOrEqual(deadline);
  });

  it.each([
    ["no time is left after a Retry-After", 30, 0, 30_000],
    ["the process has slept through the deadline", 0, 30_000, 30_000],
    ["no timer is as long as a Retry-After", 3_000_000, 0, Number.POSITIVE_INFINITY],
  ])("give up at once if %s", async (_what, wait, sleep, time) => {
    jest.spyOn(Math, "random").mockReturnValue(0);
    const { store } = faultyService(["too_many_requests"], wait, sleep);
    const adding = store({ deadline: time, attemptTimeout: time }).add(rex);
    await expect(adding).rejects.toMatchObject({ code: "too_many_requests" });
    expect(received).toHaveLength(1);
    expect(AbortSignal.timeout).toHaveBeenCalledWith(Math.min(time, 2 ** 31 - 1));
  });
});
