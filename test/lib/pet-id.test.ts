import { expect, it, jest } from "@jest/globals";
import { generatePetId, isStalePetId, petIdAt, WRITABLE_MS } from "../../lib/pet-id.ts";

const now = Date.UTC(2026, 5, 1);
jest.spyOn(Date, "now").mockReturnValue(now);

it("counts milliseconds since 2026 above 12 random bits, and ascends with time, for any random bits", () => {
  expect(petIdAt(Date.UTC(2026, 0, 1), 1)).toBe(1n);
  expect(petIdAt(Date.UTC(2026, 10, 20, 12), 4095)).toBe((27_950_400_000n << 12n) + 4095n);
  const time = Date.UTC(2030, 0, 1);
  expect(petIdAt(time + 1, 0)).toBe(petIdAt(time, 4095) + 1n);
});

it("is never outside 1 to 2^53 - 1, where no list would return it, when the clock is wrong", () => {
  const last = Date.UTC(2026, 0, 1) + 2 ** 41 - 1;
  expect(petIdAt(last, 4095)).toBe(2n ** 53n - 1n);
  for (const time of [0, Date.UTC(2026, 0, 1) - 1, last + 1])
    expect(() => petIdAt(time, 4095)).toThrow(new RangeError("The clock is before 2026 or after 2095."));
});

it("is generated from the current time, with every value of the random bits", () => {
  const low = Array.from({ length: 100_000 }, () => Number(generatePetId() - petIdAt(now, 0)));
  expect(new Set(low)).toEqual(new Set(Array(4096).keys()));
});

it("is stale after WRITABLE_MS", () => {
  expect([petIdAt(now - WRITABLE_MS, 0), petIdAt(now - WRITABLE_MS - 1, 4095)].map(isStalePetId)).toEqual([
    false,
    true,
  ]);
});
