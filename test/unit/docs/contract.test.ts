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

it("says in 2.8 that no operation changes a pet, and what depends on it cites the rule, only while that is so", () => {
  const changing = operations.filter(({ method, path }: Operation) => method !== "GET" && path.includes("{"));
  expect(/^8\. No operation changes a pet/m.test(contract)).toBe(changing.length === 0);
  const citing = globSync(["docs/**/*.md", "{cli,lib,test}/**/*.ts"], {
    cwd: root,
    exclude: ["test/unit/**"],
  }).filter((file) => /contract\s2\.8\b/.test(readFileSync(new URL(file, root), "utf8")));
  if (changing.length > 0) expect(citing).toEqual([]);
  else expect(citing).not.toEqual([]);
});
