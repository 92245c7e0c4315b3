import { createServer } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { afterAll, expect, it, jest } from "@jest/globals";
import type * as z from "zod/mini";
import type * as types from "../../examples/client.ts";
import { parseIdempotencyKey } from "../../lib/idempotency-key.ts";
import type { NewPet, Pet, PetStatus } from "../../lib/pet.ts";
import { openApiDocument } from "../../openapi/document.ts";
import { eventually } from "../support/eventually.ts";
import { listen } from "../support/listen.ts";
import { shared } from "../support/shared.ts";

/** The pauses of the client. */
const pauses: number[] = [];
/** What happens during one, or while a request waits. @returns how long it takes here, in milliseconds */
let duringPause = () => 0;
jest.unstable_mockModule("node:timers/promises", () => ({
  setTimeout: (pause: number, ...rest: [value: unknown, options: { signal?: AbortSignal }]) => {
    pauses.push(pause);
    return setTimeout(duringPause(), ...rest);
  },
}));
const client = await import("../../examples/client.ts");

// The client has types of its own, so that it is one file.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function expectSame<A, B>(_: Same<{ [K in keyof A]: A[K] }, { [K in keyof B]: B[K] }>): void {}
expectSame<types.Pet, Pet>(true); // red: change the type in examples/client.ts
expectSame<types.NewPet, z.input<typeof NewPet>>(true); // the same
expectSame<Record<types.PetStatus, 1>, Record<PetStatus, 1>>(true); // the same

/** What a server does with a request, before it adds pets. */
type Answer = { status?: number; headers?: Record<string, string>; body?: string } | "lost" | "none";
let [answers, received]: [Answer[], object[]] = [[], []];
const server = createServer(async (request, response) => {
  const { method, url, headers } = request;
  const answer = answers[received.length] ?? {};
  received.push({ method, url, headers, body: await text(request) });
  if (answer === "lost") request.socket.destroy();
  if (answer === "none") duringPause();
  if (typeof answer === "string") return;
  const { status = 201, body = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}' } = answer;
  response.writeHead(status, answer.headers).end(body, () => request.socket.end());
});
jest.spyOn(Math, "random").mockReturnValue(1);
const { origin, close } = await listen(server);
afterAll(close);
const start = (...planned: Answer[]) => {
  [answers, received, pauses.length, duringPause] = [planned, [], 0, () => 0];
};
const store = client.petStore({ baseUrl: `${origin}/v1`, apiKey: "k" });
const rex: types.NewPet = { name: "Rex", categoryId: 1n };
const page = (id: number, Link = "") => ({ status: 200, headers: { Link }, body: `[{"id":${id}}]` });
const next = (link: string) => `<http://other/v1/pets?cursor=a>; rel="prev", <${link}>; rel="next"`;
const all = (list: AsyncIterable<types.Pet>) => Readable.from(list).toArray() as Promise<types.Pet[]>;

it("adds animals to the service and lists them page by page, with every integer exact", async () => {
  const { add, list } = client.petStore({ baseUrl: shared.baseUrl, apiKey: shared.key });
  const added: types.Pet[] = [];
  for (const categoryId of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 0n])
    added.push(await add({ name: 'Rex "\n', categoryId, status: "pending" }));
  expect(added[1]).toMatchObject({ name: 'Rex "\n', categoryId: -(2n ** 63n), status: "pending" });
  expect((await add({ ...rex, status: undefined })).status).toBe("available");
  const listed = () => all(list({ pageSize: 2, status: "pending" }));
  await eventually(listed, (pets) => expect(pets).toEqual(expect.arrayContaining(added)));
  const error = { code: "invalid_request", status: 400, requestId: expect.stringMatching(/=$/) };
  await expect(add({} as types.NewPet)).rejects.toMatchObject(error);
  await expect(list({ pageSize: 0 }).next()).rejects.toMatchObject(error);
});

it("reads as bigint what openapi.json describes as int64, and leaves other members alone", async () => {
  const { properties } = openApiDocument().components.schemas.Pet as { properties: object };
  const fields = Object.keys(properties).map((name) => `"${name}" :\n-9223372036854775807`);
  start({ body: `{${fields},"tags":[{"id":1.5},{"id":"x"}]}` });
  const pet = Object.entries(await store.add(rex)).map(([name, value]) => [name, typeof value === "bigint"]);
  const described = Object.entries(properties).map(([name, { format }]) => [name, format === "int64"]);
  expect(pet).toEqual([...described, ["tags", false]]);
});

it("follows links when it needs the next page, with the query only, and no link twice", async () => {
  start(page(1, next("http://other/v1/pets?cursor=b")), page(2, next("?cursor=c")), page(3));
  expect((await all(store.list({ status: "sold" }))).map(({ id }) => id)).toEqual([1n, 2n, 3n]);
  const queries = ["?limit=100&status=sold", "?cursor=b", "?cursor=c"];
  expect(received).toMatchObject(queries.map((query) => ({ url: `/v1/pets${query}` })));
  start(...Array(9).fill(page(1, next("?cursor=b"))));
  await expect(all(store.list())).rejects.toThrow("the same page");
  expect(received).toHaveLength(2);
});

const body = '{"id":1,"name":"Rex","categoryId":1,"sta'; // cut off
it.each<Answer>([
  ...["lost" as const, { body: "" }, { body: "{}" }],
  ...[429, 500, 502, 503, 504].map((status) => ({ status })), // with a pet
  { headers: { "Content-Length": "80" }, body },
  { headers: { "Transfer-Encoding": "identity" }, body },
])("repeats the same request with the same Idempotency-Key, after growing pauses: %j", async (answer) => {
  start(answer, answer, answer);
  expect(await store.add(rex)).toEqual({ ...rex, id: 1n, status: "available" });
  expect(new Set(received.map((request) => JSON.stringify(request))).size).toBe(1);
  expect(received[3]).toMatchObject({ headers: { "idempotency-key": expect.stringMatching(/^[\w-]{36}$/) } });
  expect(pauses).toEqual([200, 400, 800]);
  start(...Array(9).fill(answer));
  await expect(store.add(rex, { idempotencyKey: "own" })).rejects.toThrow();
  expect(received).toMatchObject(Array(6).fill({ headers: { "idempotency-key": "own" } }));
});

it("gives up each attempt after 10 s without a response, also with a signal", async () => {
  let attempt = new AbortController();
  const limits = jest.spyOn(AbortSignal, "timeout").mockImplementation(() => {
    attempt = new AbortController();
    return attempt.signal;
  });
  start("none", "none", "none", "none", "none", "none");
  duringPause = () => {
    attempt.abort("late");
    return 0;
  };
  await expect(store.add(rex, new AbortController())).rejects.toBe("late");
  expect([received.length, limits.mock.calls]).toEqual([6, Array(6).fill([10_000])]);
  limits.mockRestore();
});

it("waits at least as long as Retry-After says, and at most a minute", async () => {
  const date = new Date(Date.now() + 9000).toUTCString();
  for (const [after, wait] of Object.entries({ "7, 7": 7200, [date]: 7000, "-1": 200, 61: Infinity })) {
    start({ status: 503, headers: { "Retry-After": after }, body: "null" });
    await store.add(rex).catch(() => pauses.push(Number.POSITIVE_INFINITY));
    expect({ after, early: (pauses[0] ?? 0) < wait }).toEqual({ after, early: false });
  }
});

it.each([
  { status: 401, body: '{"message":{"a":1}}' },
  { status: 307, headers: { Location: `${origin.replace("127.0.0.1", "localhost")}/v1/pets` }, body: "" },
])("neither repeats what cannot succeed, nor follows a redirect: %j", async ({ status, ...answer }) => {
  start({ status, ...answer });
  await expect(store.add(rex)).rejects.toThrow(`The response has status ${status}, and no animals.`);
  expect(received).toHaveLength(1);
});

it("ends with the reason of its signal, in an attempt and in a pause", async () => {
  for (const answer of ["none", "lost"] as const) {
    const controller = new AbortController();
    start(answer, answer, answer);
    duringPause = () => {
      controller.abort("stop");
      return 100_000;
    };
    const calls = [store.add(rex, controller), store.list({}, controller).next()];
    for (const call of calls) await expect(call).rejects.toBe("stop");
  }
});

it("refuses an invalid option with an error that names it and does not repeat it", async () => {
  for (const option of [{ baseUrl: "http://sesame@a/" }, { baseUrl: "http://:/" }, { apiKey: "sesame\n" }]) {
    const { add } = client.petStore({ baseUrl: `${origin}/v1`, apiKey: "k", ...option });
    const refused = expect(add(rex)).rejects;
    await refused.toThrow(new RegExp(`^The ${Object.keys(option)} must be ((?!sesame).)+\\.$`));
  }
});

it("takes the Idempotency-Keys that the service takes, and refuses others before a request", async () => {
  const keys = ["a", "a b", '"a"', '"\\""', '"', '"a', '"\\a"', "", " a", "a ", "\n", "ключ", "\u007f"];
  const longest = "x".repeat(255);
  for (const key of [...keys, longest, `${longest}x`, null, true, 7, {}]) {
    start();
    const [result] = await Promise.allSettled([store.add(rex, { idempotencyKey: key as string })]);
    const isTaken = typeof key === "string" && parseIdempotencyKey(key) !== undefined;
    expect({ key, sent: received.length }).toEqual({ key, sent: isTaken ? 1 : 0 });
    if (!isTaken) expect(result).toMatchObject({ reason: expect.any(TypeError) });
  }
});

it("refuses a wrong status, and never takes it for none", async () => {
  const { list } = client.petStore({ baseUrl: shared.baseUrl, apiKey: shared.key });
  for (const status of ["", null, 0, false, "sold&a=b"])
    await expect(list({ status: status as PetStatus }).next()).rejects.toMatchObject({ status: 400 });
});

it("says before a request what it needs of a runtime without the source of JSON.parse", async () => {
  const { parse } = JSON;
  const old = jest.spyOn(JSON, "parse").mockImplementation((text) => parse(text, (_name, value) => value));
  start();
  await expect(store.add(rex)).rejects.toThrow("use Node 22 or later.");
  old.mockRestore();
  expect(received).toEqual([]);
});
