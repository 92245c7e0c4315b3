import { expect, it } from "@jest/globals";
import { parseDuration } from "../../cli/arguments.ts";

it("reads a whole number with a unit as milliseconds", () => {
  expect(["45s", "30m", "24h", "90d", "0s"].map(parseDuration)).toEqual([45e3, 18e5, 864e5, 7776e6, 0]);
});

it.each(["", "90", "d", "1.5h", "-1d", "1w", "1D", " 1d", "1d ", "1d2h", "99999999999s", "36526d", "1e3s"])(
  "reads nothing from %j",
  (text) => expect(parseDuration(text)).toBeUndefined(),
);
