import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { petIdAt } from "../../../../lib/pet-id.ts";

const record = readFileSync(new URL("../../../../docs/decisions/one-region.md", import.meta.url), "utf8");

/** The ids that a millisecond has. */
const idsOfMillisecond = Number(petIdAt(2e12 + 1, 0) - petIdAt(2e12, 0));

/** How many pairs of equal ids two regions draw in a second, if both create pets at a rate. */
const equalIds = (rate: number) => (1000 * (rate / 1000) ** 2) / idsOfMillisecond;

it.each([75, 750, 7500])("says how often two regions draw the same id at %d new pets a second", (rate) => {
  const rounded = (value: number) =>
    Number(value.toPrecision(2)).toLocaleString("en", { maximumFractionDigits: 4 });
  const cells = [rate.toLocaleString("en"), rounded(equalIds(rate)), rounded(equalIds(rate) * 86_400)];
  expect(record.replaceAll(/ +/g, " ")).toContain(`| ${cells.join(" | ")} |`);
});

it("says how many ids a millisecond has", () => {
  expect(record).toContain(`${idsOfMillisecond.toLocaleString("en")} random values`);
});
