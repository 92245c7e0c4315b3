import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "@jest/globals";
import { type NewPet, petStore } from "../examples/client.ts";
import { errorBody, errors } from "../lib/errors.ts";

const baseUrl = process.env.CONTRACT_URL ?? "";
const key = process.env.CONTRACT_KEY ?? "";
const node = (script: string, args: string[] = [], env: Record<string, string> = {}) =>
  promisify(execFile)(process.execPath, [fileURLToPath(new URL(`../${script}`, import.meta.url)), ...args], {
    env: { ...process.env, NODE_OPTIONS: "", ...env },
  });

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

interface Busy {
  refusals: number;
  code?: "unavailable" | "too_many_requests";
  wait?: number;
}
interface Sent {
  method: string | undefined;
  idempotencyKey: unknown;
  body: string;
}

/** A service that refuses the first requests, and asks for a wait in seconds. */
async function busyService({ refusals, code = "unavailable", wait = 0 }: Busy) {
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    const { method, headers } = request;
    const body = await text(request);
    sent.push({ method, idempotencyKey: headers["idempotency-key"], body });
    const refused = sent.length <= refusals;
    response.writeHead(refused ? errors[code].status : 201, {
      "Content-Type": "application/json",
      ...(refused && { "Retry-After": wait }),
    });
    response.end(
      JSON.stringify(refused ? errorBody(code) : { id: 1, status: "available", ...JSON.parse(body) }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, sent };
}

describe("generated files", () => {
  it("are current", async () => {
    await node("openapi/generate.ts", ["--check"]);
  });
});

describe("examples/client.ts", () => {
  it("adds animals, and finds them on the pages of the list", async () => {
    const store = petStore(baseUrl, key);
    const added: number[] = [];
    for (let n = 0; n < 12; n++) {
      added.push((await store.add({ name: `Example ${n}`, categoryId: 1, status: "pending" })).id);
    }
    for (let tries = 20; ; tries--) {
      const listed: number[] = [];
      for await (const { id } of store.list({ limit: 5, status: "pending" })) listed.push(id);
      if (tries > 0 && !added.every((id) => listed.includes(id))) continue;
      expect(listed).toEqual(expect.arrayContaining(added));
      expect(new Set(listed).size).toBe(listed.length);
      return;
    }
  });

  it("throws what the API refuses", async () => {
    await expect(petStore(baseUrl, key).add({} as NewPet)).rejects.toMatchObject({ code: "invalid_request" });
    await expect(petStore(baseUrl, "wrong").list().next()).rejects.toMatchObject({ code: "unauthorized" });
  });

  it.each(["unavailable", "too_many_requests"] as const)(
    "sends the same request again after the answer %s",
    async (code) => {
      const { url, sent } = await busyService({ refusals: 2, code });
      expect(await petStore(url, key).add({ name: "Rex", categoryId: 1 })).toMatchObject({ id: 1 });
      expect(sent).toHaveLength(3);
      expect(sent[0]?.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
      expect(new Set(sent.map((each) => JSON.stringify(each))).size).toBe(1);
    },
  );

  it("waits as long as Retry-After says", async () => {
    const { url } = await busyService({ refusals: 1, wait: 1 });
    const start = performance.now();
    await petStore(url, key).add({ name: "Rex", categoryId: 1 });
    expect(performance.now() - start).toBeGreaterThan(990);
  });

  it("gives up after five attempts", async () => {
    const { url, sent } = await busyService({ refusals: 9 });
    await expect(petStore(url, key).add({ name: "Rex", categoryId: 1 })).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(sent).toHaveLength(5);
  });

  it("runs from the command line", async () => {
    const { stdout } = await node("examples/client.ts", [], { BASE_URL: baseUrl, API_KEY: key });
    expect(stdout).toMatch(/^Added Rex as \d+\.\nAdded Tom as \d+\.\nAdded Polly as \d+\.\n\d+ /);
  });
});
