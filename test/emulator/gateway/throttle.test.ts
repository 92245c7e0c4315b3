import { expect, it } from "@jest/globals";
import { createThrottle } from "../../../emulator/gateway/throttle.ts";

it("admits a burst, and then as many requests as the rate allows, and never saves more than a burst", () => {
  let now = 5000;
  const tryAcquire = createThrottle({ rate: 50, burst: 100 }, () => now);
  for (const [ms, count] of [
    [0, 100],
    [19, 0], // not a whole request yet
    [1, 1],
    [1000, 50],
    [3_600_000, 100],
  ] as const) {
    now += ms;
    expect(Array.from({ length: 300 }, () => tryAcquire()).filter(Boolean)).toHaveLength(count);
  }
});
