import { globSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import type { Operation } from "../../../lib/operation.ts";
import { operations } from "../../../lib/operations.ts";

const root = new URL("../../../", import.meta.url);
const contract = readFileSync(new URL("docs/contract.md", root), "utf8");

it.each<Operation>(operations)("has the rules of $id", ({ id, method, path, deprecation }) => {
  const heading = `${id}: \`${method} ${path}\`${deprecation ? ", deprecated" : ""}`;
  expect(contract.split("\n").map((line) => line.replace(/^## \d+\. /, ""))).toContain(heading);
});

it("and other documents say that no operation changes a pet only while that is so", () => {
  const changing = operations.filter(({ method, path }: Operation) => method !== "GET" && path.includes("{"));
  const saying = globSync("docs/**/*.md", { cwd: root }).filter((file) =>
    /(no operation|API never)\s+changes\s+a\s+pet/i.test(readFileSync(new URL(file, root), "utf8")),
  );
  if (changing.length === 0) expect(saying).toContain("docs/contract.md");
  else expect(saying).toEqual([]);
});
