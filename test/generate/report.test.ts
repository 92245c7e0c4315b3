import { expect, it } from "@jest/globals";
import { insert } from "./report.ts";

it("replaces what is between two markers, and needs both", () => {
  const [start, end] = ["<!-- cold -->\n", "\n<!-- /cold -->"];
  expect(insert(`a${start}old${end}b`, "cold", "new")).toBe(`a${start}\nnew\n${end}b`);
  for (const text of [start, end]) expect(() => insert(text, "cold", "new")).toThrow("no markers for cold");
});
