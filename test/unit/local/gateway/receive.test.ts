import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { expect, it } from "@jest/globals";
import { readTarget, withBody } from "../../../../local/gateway/receive.ts";

const read = (url: string, host: string[] = ["a"]) =>
  readTarget({ url, method: "GET", headersDistinct: { host } } as unknown as IncomingMessage, "v1");

it.each([
  ["/v1/pets", "/pets", ""],
  ["/v1//pets?a=1?b", "/pets", "a=1%3Fb"],
  ["/v1/pets?a=1#b", "/pets", "a=1"],
  ["http://other:1/v1/pets", "/pets", ""],
  ["https://other/v1/pets", "/pets", ""],
  ["/v1", "", ""],
])("splits the target %s", (url, path, query) => {
  const step = read(url);
  expect("value" in step && [step.value.path, String(step.value.query)]).toEqual([path, query]);
});

it.each(["/", "/v1x", "//v1/pets"])("refuses the target %s, which is outside the stage", (url) => {
  expect(read(url)).toMatchObject({ refusal: "MISSING_AUTHENTICATION_TOKEN" });
});

it.each([[], [""], ["a", "a"], ["a/b"], ["a b"]])("refuses a request with the Host %j %j", (...host) => {
  expect(read("/v1", host)).toMatchObject({ refusal: "DEFAULT_4XX" });
  for (const valid of ["a-b.example", "127.0.0.1:80", "[::1]:80"])
    expect(read("/v1", [valid])).toHaveProperty("value");
});

it("receives bodies of 10 MiB at most, and holds 32 MiB at one time", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const bytes = (...sizes: number[]) => Readable.from(sizes.map((size) => Buffer.alloc(size)));
  const receive = (message: Readable, onReceived = () => {}) =>
    withBody(message as IncomingMessage, async (body) => {
      onReceived();
      await released;
      return { value: body.length, variables: {} };
    });
  const MiB = 2 ** 20;
  const held: unknown[] = [];
  for (const size of [10, 10, 10, 2]) {
    const received = new Promise<void>((resolve) => held.push(receive(bytes(size * MiB), resolve)));
    await Promise.race([received, held.at(-1)]);
  }
  expect(await receive(bytes(1))).toMatchObject({ refusal: "THROTTLED" });
  release();
  expect(await Promise.all(held)).toHaveLength(4);
  expect(await receive(bytes(5 * MiB, 5 * MiB))).toMatchObject({ value: 10 * MiB });
  const large = bytes(10 * MiB, 1, 1);
  expect(await receive(large)).toMatchObject({ refusal: "REQUEST_TOO_LARGE" });
  // The client receives the response only if the rest of its body is read.
  await finished(large);
});

it("refuses a body that is incomplete, and no longer holds it", async () => {
  for (const size of Array(4).fill(9 * 2 ** 20)) {
    const message = Readable.from([Buffer.alloc(size), Promise.reject(new Error("aborted"))]);
    const step = await withBody(message as IncomingMessage, () => Promise.reject());
    expect(step).toMatchObject({ refusal: "BAD_REQUEST_BODY" });
  }
});
