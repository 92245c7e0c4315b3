import { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "@jest/globals";
import { BufferedRequest } from "../../../../emulator/gateway/request.ts";

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
  return Object.assign(request, { received: await request.body });
}

it("receives 10 MiB at most", async () => {
  const request = await complete(5 * MiB, 5 * MiB);
  expect(request.received).toMatchObject({ value: { length: 10 * MiB } });
  request.discard();
  expect(await complete(10 * MiB, 1)).toMatchObject({ received: { refusal: "REQUEST_TOO_LARGE" } });
});

it("holds 32 MiB of all bodies at one time, and refuses the oldest that is incomplete", async () => {
  const first = await complete(10 * MiB);
  const oldest = await begun(10 * MiB);
  const others = [await complete(10 * MiB), await complete(4 * MiB)];
  expect(await oldest.body).toMatchObject({ refusal: "THROTTLED" });
  expect(others).toMatchObject(others.map(() => ({ received: { value: {} } })));
  // Only this one is incomplete.
  expect(await (await begun(9 * MiB)).body).toMatchObject({ refusal: "THROTTLED" });
  for (const request of [first, ...others]) request.discard();
});

it("refuses a body that is incomplete, and no longer holds it or what it was copied from", async () => {
  for (let n = 0; n < 4; n++) {
    const request = await begun(...Array<number>(10).fill(MiB));
    request.destroy(new Error("aborted"));
    expect(await request.body).toMatchObject({ refusal: "BAD_REQUEST_BODY" });
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
  const body = await request.body;
  expect("value" in body && body.value.toString()).toBe("a".repeat(100_000));
  request.discard();
});
