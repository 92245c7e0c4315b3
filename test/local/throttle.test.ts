import { expect, it } from "@jest/globals";
import { Throttle } from "../../local/throttle.ts";

/** How many of so many requests at once are let through. */
const taken = (throttle: Throttle, tries: number) =>
  Array.from({ length: tries }, () => throttle.take()).filter(Boolean).length;

it("lets a burst through, and after it as many as the rate allows", () => {
  let now = 5000;
  const throttle = new Throttle({ rate: 50, burst: 100 }, () => now);
  expect(taken(throttle, 300)).toBe(100);
  now += 19; // not a whole request yet
  expect(taken(throttle, 10)).toBe(0);
  now += 1;
  expect(taken(throttle, 10)).toBe(1);
  now += 1000;
  expect(taken(throttle, 300)).toBe(50);
});

it("saves no more than a burst, however long nobody asks", () => {
  let now = 0;
  const throttle = new Throttle({ rate: 50, burst: 100 }, () => now);
  now += 3_600_000;
  expect(taken(throttle, 300)).toBe(100);
});

it("keeps to the rate when it is asked more often", () => {
  let now = 0;
  const throttle = new Throttle({ rate: 10, burst: 5 }, () => now);
  let count = 0;
  for (; now < 10_000; now += 1) count += taken(throttle, 1);
  expect(count).toBeGreaterThanOrEqual(104);
  expect(count).toBeLessThanOrEqual(105);
});
