import { expect, it } from "@jest/globals";
import { entryPoints, isSource } from "../../../infra/bundle/options.ts";

it("leaves out what editors and systems leave beside the sources", () => {
  const left = [
    ".x.ts.swp",
    ".x.ts",
    ".#x.ts",
    "#x.ts#",
    "x.ts~",
    "x.ts.orig",
    "x.ts.bak",
    ".DS_Store",
    "4913",
  ];
  expect(left.filter(isSource)).toEqual([]);
  expect(["x.ts", "lambda-entry.mjs"].filter(isSource)).toHaveLength(2);
  expect(entryPoints().every((file) => /\/functions\/[a-z-]+\.ts$/.test(file))).toBe(true);
});
