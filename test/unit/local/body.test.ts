import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "@jest/globals";
import { Body } from "../../../local/body.ts";

const MiB = 2 ** 20;
const bodyOf = (message: Readable) => new Body(message as IncomingMessage);

/** A body of which a part has arrived. */
async function begun(size: number) {
  const message = new PassThrough({ highWaterMark: 16 * MiB });
  const body = bodyOf(message);
  const arrived = once(message, "data");
  message.write(Buffer.alloc(size));
  await arrived;
  return { message, body };
}

it("receives 10 MiB at most", async () => {
  const sizes = (...all: number[]) => bodyOf(Readable.from(all.map((size) => Buffer.alloc(size))));
  const body = sizes(5 * MiB, 5 * MiB);
  expect(await body.received).toMatchObject({ value: { length: 10 * MiB } });
  body.discard();
  expect(await sizes(10 * MiB, 1).received).toMatchObject({ refusal: "REQUEST_TOO_LARGE" });
});

it("holds 32 MiB of all bodies at one time, and refuses the oldest that is incomplete", async () => {
  const complete = await begun(10 * MiB);
  complete.message.end();
  await complete.body.received;
  const [oldest, newer] = [await begun(10 * MiB), await begun(10 * MiB)];
  const last = await begun(4 * MiB);
  expect(await oldest.body.received).toMatchObject({ refusal: "THROTTLED" });
  for (const { message, body } of [newer, last]) {
    message.end();
    expect(await body.received).toHaveProperty("value");
  }
  // Only this one is incomplete.
  const another = await begun(9 * MiB);
  expect(await another.body.received).toMatchObject({ refusal: "THROTTLED" });
  for (const { body } of [complete, newer, last]) body.discard();
});

it("refuses a body that is incomplete, and no longer holds it", async () => {
  for (let n = 0; n < 4; n++) {
    const { message, body } = await begun(10 * MiB);
    message.destroy(new Error("aborted"));
    expect(await body.received).toMatchObject({ refusal: "BAD_REQUEST_BODY" });
  }
});

it("reads the rest of a refused body, up to a limit", async () => {
  const { message, body } = await begun(1);
  body.discard();
  message.end(Buffer.alloc(16 * MiB));
  await once(message, "end");
  const endless = Readable.from(Array(1000).fill(Buffer.alloc(MiB)));
  bodyOf(endless).discard();
  await once(endless, "close");
  expect(endless.readableEnded).toBe(false);
});

it("takes little more memory than its bytes, however they are cut", async () => {
  setFlagsFromString("--expose-gc");
  const used = () => {
    runInNewContext("gc")();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return (heapUsed + arrayBuffers) / MiB;
  };
  const before = used();
  const body = bodyOf(
    Readable.from(
      (function* () {
        for (let n = 0; n < 100_000; n++) yield Buffer.alloc(1, "a");
      })(),
    ),
  );
  const step = await body.received;
  expect("value" in step && step.value.toString()).toBe("a".repeat(100_000));
  expect(used() - before).toBeLessThan(5);
  body.discard();
});
