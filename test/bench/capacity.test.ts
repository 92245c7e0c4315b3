import { describe, expect, it } from "@jest/globals";
import { creationsOfOneStatus, pageCost, simulate } from "../../bench/capacity.ts";

const RATE = 10_000;

describe("10,000 creations of one status a second", () => {
  it("hold with 16 shards, whatever the draw", () => {
    for (const seed of [1, 2, 3]) {
      expect(simulate(RATE, 16, 10, seed)).toMatchObject({ throttled: 0, holds: true });
    }
  });

  it.each([1, 4, 8])("do not hold with %i", (shards) => {
    const { offered, throttled, holds } = simulate(RATE, shards);
    expect(holds).toBe(false);
    // No draw does better than to use every partition up.
    expect(throttled).toBeGreaterThanOrEqual(offered - 10 * creationsOfOneStatus(shards));
  });

  it("leave 8 shards only what their partitions take", () => {
    const { offered, throttled } = simulate(RATE, 8);
    expect(offered - throttled).toBe(10 * 8000);
  });
});

describe("the model", () => {
  it("gives the same outcome for the same seed, and another for another", () => {
    expect(simulate(RATE, 10, 5, 7)).toEqual(simulate(RATE, 10, 5, 7));
    expect(simulate(RATE, 10, 5, 7)).not.toEqual(simulate(RATE, 10, 5, 8));
  });

  it("lets one partition hold some 900 creations a second, and the table's quota bind at 40 shards", () => {
    expect(simulate(900, 1).holds).toBe(true);
    expect(simulate(1100, 1).holds).toBe(false);
    expect([1, 16, 40, 64].map(creationsOfOneStatus)).toEqual([1000, 16_000, 40_000, 40_000]);
  });

  it("counts 3 Queries a shard for a page of all animals", () => {
    expect(pageCost(1, 20, false)).toEqual({ queries: 3, units: 1.5 });
    expect(pageCost(16, 20, true)).toEqual({ queries: 16, units: 8 });
    expect(pageCost(16, 100, false)).toEqual({ queries: 48, units: 96 });
  });
});
