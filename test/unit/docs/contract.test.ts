import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { type Operation, operations } from "../../../lib/operations.ts";

const contract = readFileSync(new URL("../../../docs/contract.md", import.meta.url), "utf8");

it.each<Operation>(operations)("has the rules of $id", ({ id, method, path, deprecation }) => {
  const heading = `${id}: \`${method} ${path}\`${deprecation ? ", deprecated" : ""}`;
  expect(contract.split("\n").map((line) => line.replace(/^## \d+\. /, ""))).toContain(heading);
});

it("says that no operation changes a pet, and that a pet keeps its status, while that is so", () => {
  const changing = operations.filter(({ method, path }: Operation) => method !== "GET" && path.includes("{"));
  expect(/^8\. No operation changes a pet\./m.test(contract)).toBe(changing.length === 0);
});
