import { expect, it } from "@jest/globals";
import { Throttle } from "../../../../local/gateway/throttle.ts";

/** How many of `tries` simultaneous requests are admitted. */
const admitted = (throttle: Throttle, tries: number) =>
  Array.from({ length: tries }, () => throttle.tryAcquire()).filter(Boolean).length;

it("admits a burst, and then as many requests as the rate allows", () => {
  let now = 5000;
  const throttle = new Throttle({ rate: 50, burst: 100 }, () => now);
  expect(admitted(throttle, 300)).toBe(100);
  now += 19; // not a whole request yet
  expect(admitted(throttle, 10)).toBe(0);
  now += 1;
  expect(admitted(throttle, 10)).toBe(1);
  now += 1000;
  expect(admitted(throttle, 300)).toBe(50);
});

it("never saves more than a burst", () => {
  let now = 0;
  const throttle = new Throttle({ rate: 50, burst: 100 }, () => now);
  now += 3_600_000;
  expect(admitted(throttle, 300)).toBe(100);
});
