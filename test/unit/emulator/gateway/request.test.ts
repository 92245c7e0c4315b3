import { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "@jest/globals";
import { BODIES_LIMIT, BufferedRequest, readTarget } from "../../../../emulator/gateway/request.ts";

const MiB = 2 ** 20;

/** A request of whose body chunks with these sizes have arrived. */
async function begun(...sizes: number[]) {
  const request = new BufferedRequest(new Socket());
  for (const size of sizes) request.push(Buffer.alloc(size, "a"));
  await turn();
  return request;
}

async function complete(...sizes: number[]) {
  const request = await begun(...sizes);
  request.push(null);
  return request;
}
/** The sizes of a request: that of its body, and that of what is kept. */
async function sizes(request: BufferedRequest) {
  await request.received;
  return [request.size, request.body.length];
}

it("keeps 6 MiB at most, and does not wait for more than 10 MiB", async () => {
  const kept = await complete(5 * MiB, MiB);
  expect(await sizes(kept)).toEqual([6 * MiB, 6 * MiB]);
  kept.discard();
  expect(await sizes(await complete(6 * MiB, 1))).toEqual([6 * MiB + 1, 0]);
  expect(await sizes(await begun(10 * MiB, 1))).toEqual([10 * MiB + 1, 0]);
});

it("refuses the body with which all would take more than the limit, and no other", async () => {
  const others = [];
  for (let n = 1; n <= BODIES_LIMIT / (6 * MiB); n++) others.push(await begun(6 * MiB));
  const rest = BODIES_LIMIT % (6 * MiB);
  await expect((await begun(rest + 1)).received).rejects.toMatchObject({ message: "THROTTLED" });
  others.push(await begun(rest));
  for (const request of others) {
    request.push(null);
    await request.received;
    request.discard();
  }
  (await complete(6 * MiB)).discard();
});

it("holds the short bodies of a thousand requests", async () => {
  const requests = await Promise.all(Array.from({ length: 1000 }, () => complete(100)));
  for (const request of requests) {
    await request.received;
    request.discard();
  }
});

it("refuses a body that is incomplete, and no longer holds it or what it was copied from", async () => {
  for (let n = 0; n < 6; n++) {
    const request = await begun(...Array<number>(6).fill(MiB));
    request.destroy(new Error("aborted"));
    await expect(request.received).rejects.toMatchObject({ message: "BAD_REQUEST_BODY" });
  }
});

it("takes little more memory than its bytes, however they are cut", async () => {
  setFlagsFromString("--expose-gc");
  const used = () => {
    runInNewContext("gc")();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return (heapUsed + arrayBuffers) / MiB;
  };
  const before = used();
  const request = await begun();
  for (let n = 0; n < 100_000; n++) request.push(Buffer.alloc(1, "a"));
  expect(used() - before).toBeLessThan(5);
  request.push(null);
  await request.received;
  expect(request.body.toString()).toBe("a".repeat(100_000));
  request.discard();
});

const read = (url: string, host: string[] = ["a"]) =>
  readTarget({ url, method: "GET", headersDistinct: { host } } as unknown as BufferedRequest, "v1");

it.each([
  ["/v1/pets", "/pets", ""],
  ["/v1//pets?a=1?b", "/pets", "a=1%3Fb"],
  ["/v1/pets?a=1#b", "/pets", "a=1"],
  ["http://other:1/v1/pets", "/pets", ""],
  ["https://other/v1/pets", "/pets", ""],
  ["/v1", "", ""],
])("splits the target %s", (url, path, query) => {
  const request = read(url);
  expect([request.path, String(request.query)]).toEqual([path, query]);
});

it.each(["/", "/v1x", "//v1/pets"])("refuses the target %s, which is outside the stage", (url) => {
  expect(() => read(url)).toThrow("MISSING_AUTHENTICATION_TOKEN");
});

it.each([[], [""], ["a", "a"], ["a/b"], ["a b"]])("refuses a request with the Host %j %j", (...host) => {
  expect(() => read("/v1", host)).toThrow("DEFAULT_4XX");
  for (const valid of ["a-b.example", "127.0.0.1:80", "[::1]:80"])
    expect(read("/v1", [valid])).toHaveProperty("path", "");
});
