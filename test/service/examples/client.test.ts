import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import {
  type AddError,
  type ClientOptions,
  type NewPet,
  type Pet,
  petStore,
} from "../../../examples/client.ts";
import { type ErrorCode, errorBody, errors } from "../../../lib/errors.ts";
import { eventually } from "../../support/eventually.ts";
import { listen } from "../../support/listen.ts";

const baseUrl = process.env.CONTRACT_URL ?? "";
const apiKey = process.env.CONTRACT_KEY ?? "";
const store = petStore({ baseUrl, apiKey });
const rex: NewPet = { name: "Rex", categoryId: 1n };

const script = fileURLToPath(new URL("../../../examples/demo.ts", import.meta.url));

const demo = (environment = {}) =>
  promisify(execFile)(process.execPath, [script], {
    env: { ...process.env, NODE_OPTIONS: "", BASE_URL: baseUrl, API_KEY: apiKey, ...environment },
  });

describe("examples/client.ts", () => {
  it("adds animals and lists them page by page, with every integer exact", async () => {
    const added: Pet[] = [];
    for (const categoryId of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 0n, 1n, 2n, 3n]) {
      // The name looks like a member, to show that string values are not touched.
      const name = `","id":1,"categoryId": 5 \\"id":7 ${categoryId}`;
      const pet: NewPet = { name, categoryId, status: "pending" };
      const returned = await store.add(pet);
      expect(returned).toEqual({ ...pet, id: expect.anything() });
      added.push(returned);
    }
    const { id: sold } = await store.add({ ...rex, status: "sold" });
    await eventually(
      async () => {
        const listed: Pet[] = [];
        for await (const pet of store.list({ limit: 5, status: "pending" })) listed.push(pet);
        return listed;
      },
      (listed) =>
        expect(listed.filter(({ id }) => id === sold || added.some((pet) => pet.id === id))).toEqual(added),
    );
  });

  it("leaves out a member that is undefined", async () => {
    expect(await store.add({ ...rex, status: undefined })).toMatchObject({ ...rex, status: "available" });
  });

  it("throws the error that the API returns, with the request id", async () => {
    await expect(store.add({} as NewPet)).rejects.toMatchObject({ code: "invalid_request", status: 400 });
    await expect(store.list({ limit: 0 }).next()).rejects.toMatchObject({ code: "invalid_request" });
    const wrong = petStore({ baseUrl, apiKey: "wrong" });
    await expect(wrong.list().next()).rejects.toMatchObject({
      code: "unauthorized",
      status: 401,
      requestId: expect.stringMatching(/\S/),
    });
  });

  it("runs from the command line", async () => {
    const { stdout } = await demo();
    const added = [...stdout.matchAll(/^Added (\w+) as (\d{9,})\.$/gm)];
    expect(added.map(([, name]) => name)).toEqual(["Rex", "Tom", "Polly"]);
    // Other tests add animals as well, whose names can have line breaks.
    for (const [, name, id] of added) expect(stdout).toContain(`\n${id} ${name} (available)\n`);
  });

  it.each([
    [{ BASE_URL: "" }, "Set BASE_URL and API_KEY to what `npm start` prints."],
    [
      { BASE_URL: "http://127.0.0.1:2/v1" },
      "There is no service at http://127.0.0.1:2/v1. Start it with `npm start`, or check BASE_URL.",
    ],
    [{ API_KEY: "wrong" }, errorBody("unauthorized").message],
  ])("says in one line, without a retry, why it cannot start: %j", async (environment, message) => {
    const result = { code: 1, stdout: "", stderr: `demo: ${message}\n` };
    await expect(demo(environment)).rejects.toMatchObject(result);
  });
});

/** What a service does with a request instead of returning a 201. */
type Fault =
  | ErrorCode
  | "connection lost"
  | "response lost"
  | "body lost"
  | "no response"
  | "bad gateway"
  | "too large";

const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  for (const stop of running.splice(0)) await stop();
});

/** A service that has one fault per request, as listed, and then works. */
async function faultyService(faults: Fault[], retryAfter = 0) {
  const received: { idempotencyKey: unknown; body: string }[] = [];
  const added = new Map<string, unknown>();
  const server = createServer(async (request, response) => {
    const fault = faults[received.length];
    const body = await text(request);
    const idempotencyKey = String(request.headers["idempotency-key"]);
    received.push({ idempotencyKey, body });
    if (fault === "connection lost") return void request.socket.destroy();
    if (fault === "no response") return;
    if (fault === "bad gateway") return void response.writeHead(502).end("<html>Bad gateway</html>");
    // What API Gateway itself sends for a body over 10 MB.
    if (fault === "too large")
      return void response.writeHead(413, { "Content-Type": "text" }).end("HTTP content length exceeded");
    if (fault && fault in errors) {
      const code = fault as ErrorCode;
      const headers = { "Content-Type": "application/json", "Retry-After": retryAfter };
      return void response.writeHead(errors[code].status, headers).end(JSON.stringify(errorBody(code)));
    }
    // The pet is added now, even if the client gets no response.
    const pet = added.get(idempotencyKey) ?? { id: added.size + 1, status: "available", ...JSON.parse(body) };
    added.set(idempotencyKey, pet);
    if (fault === "response lost") return void request.socket.destroy();
    const json = JSON.stringify(pet);
    response.writeHead(201, { "Content-Type": "application/json", "Content-Length": json.length });
    if (fault === "body lost") return void response.write(json.slice(0, 5), () => request.socket.destroy());
    response.end(json);
  });
  const { origin, close } = await listen(server);
  running.push(close);

  // A clock that only the client's pauses move.
  const pauses: number[] = [];
  let time = 0;
  const clock: ClientOptions["clock"] = {
    now: () => time,
    sleep: async (milliseconds) => {
      pauses.push(milliseconds);
      time += milliseconds;
    },
  };
  const client = (options: Partial<ClientOptions> = {}) =>
    petStore({ baseUrl: `${origin}/v1`, apiKey: "key", clock, ...options });
  return { client, received, added, pauses };
}

describe("the retries of examples/client.ts", () => {
  it.each<Fault>([
    "connection lost",
    "response lost",
    "body lost",
    "too_many_requests",
    "internal_error",
    "bad gateway",
    "unavailable",
    "timeout",
  ])("add one animal after: %s", async (fault) => {
    const { client, received, added } = await faultyService([fault, fault]);
    expect(await client().add(rex)).toEqual({ ...rex, id: 1n, status: "available" });
    expect(received).toHaveLength(3);
    expect(received[0]?.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(received.map((request) => JSON.stringify(request))).size).toBe(1);
    expect(added.size).toBe(1);
  });

  it("add one animal after an attempt timed out", async () => {
    const { client, received, added } = await faultyService(["no response"]);
    expect(await client({ attemptTimeout: 200 }).add(rex)).toMatchObject({ id: 1n });
    expect([received.length, added.size]).toEqual([2, 1]);
  });

  it("add one animal if the caller tries again after the deadline, with the key of the error", async () => {
    const faults: Fault[] = ["response lost", ...Array<Fault>(1000).fill("connection lost")];
    const { client, received, added } = await faultyService(faults);
    const error = await client()
      .add(rex)
      .catch((error: AddError) => error);
    expect(error).toMatchObject({ message: "fetch failed", idempotencyKey: received[0]?.idempotencyKey });

    faults.length = 0; // the service is back
    const { idempotencyKey } = error as AddError;
    expect(await client().add(rex, { idempotencyKey })).toEqual({ ...rex, id: 1n, status: "available" });
    expect(added.size).toBe(1);
  });

  it("use a new Idempotency-Key for each animal", async () => {
    const { client, added } = await faultyService([]);
    await client().add(rex);
    await client().add(rex);
    expect(added.size).toBe(2);
  });

  it.each<Fault>(["invalid_request", "unauthorized", "forbidden", "idempotency_mismatch", "gone"])(
    "do not repeat what cannot succeed: %s",
    async (fault) => {
      const { client, received } = await faultyService([fault]);
      await expect(client().add(rex)).rejects.toMatchObject({ code: fault });
      expect(received).toHaveLength(1);
    },
  );

  it("do not repeat a request that API Gateway itself refuses in plain text", async () => {
    const { client, received } = await faultyService(["too large"]);
    const refusal = {
      status: 413,
      code: undefined,
      requestId: undefined,
      message: "The response has status 413.",
    };
    await expect(client().add(rex)).rejects.toMatchObject(refusal);
    expect(received).toHaveLength(1);
  });

  it.each([0, 0.5, 1])("wait as long as Retry-After says, and a random time on top: %d", async (random) => {
    jest.spyOn(Math, "random").mockReturnValue(random);
    const { client, pauses } = await faultyService(["unavailable", "too_many_requests", "unavailable"], 7);
    await client().add(rex);
    expect(pauses).toEqual([7000 + 200 * random, 7000 + 400 * random, 7000 + 800 * random]);
  });

  it.each([30_000, undefined])(
    "pause longer and longer, and end before the deadline: %d",
    async (deadline) => {
      jest.spyOn(Math, "random").mockReturnValue(1);
      const timeout = jest.spyOn(AbortSignal, "timeout");
      const { client, received, pauses } = await faultyService(Array(1000).fill("internal_error"));
      const options = deadline ? { deadline, attemptTimeout: 7000 } : {};
      await expect(client(options).add(rex)).rejects.toMatchObject({ code: "internal_error" });
      expect(pauses.slice(0, 6)).toEqual([200, 400, 800, 1600, 3200, 5000]);
      expect(pauses).toHaveLength(deadline ? 9 : 15);
      expect(received).toHaveLength(pauses.length + 1);
      const starts = [0, ...pauses.map((_, n) => pauses.slice(0, n + 1).reduce((sum, pause) => sum + pause))];
      const { attemptTimeout = 10_000 } = options;
      expect(timeout.mock.calls.flat()).toEqual(
        starts.map((start) => Math.min(attemptTimeout, (deadline ?? 60_000) - start)),
      );
    },
  );

  it.each([30, 31])("give up at once if no time is left after a Retry-After of %d", async (seconds) => {
    jest.spyOn(Math, "random").mockReturnValue(0);
    const { client, received } = await faultyService(["too_many_requests"], seconds);
    await expect(client({ deadline: 30_000 }).add(rex)).rejects.toMatchObject({ code: "too_many_requests" });
    expect(received).toHaveLength(1);
  });

  it("end with the error of fetch if the last attempt gets no response", async () => {
    const lost = Array<Fault>(1000).fill("connection lost");
    const { client } = await faultyService(["unavailable", ...lost]);
    await expect(client({ deadline: 3000 }).add(rex)).rejects.toThrow("fetch failed");
  });

  it("report a proxy's response by its status", async () => {
    const { client } = await faultyService(Array(1000).fill("bad gateway"));
    await expect(client({ deadline: 3000 }).add(rex)).rejects.toMatchObject({ code: undefined, status: 502 });
  });
});
