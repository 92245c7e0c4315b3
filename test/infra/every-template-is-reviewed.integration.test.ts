import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { FOLDER, reviewedFiles } from "../support/reviewed-templates.ts";
import { shared } from "../support/shared.ts";

const files = reviewedFiles(shared.assembly, shared.accountAssembly);

// `npm run generate` writes them again. Whoever changes what is deployed reviews the difference.
it.each(Object.entries(files))("%s has what is deployed", (file, deployed) => {
  expect(deployed).toBe(readFileSync(new URL(file, FOLDER), "utf8"));
});

it("every reviewed template belongs to a stack", () => {
  expect(readdirSync(FOLDER).sort()).toEqual(Object.keys(files).sort());
});

it("a personal stage, and the account stacks for the example repository, satisfy the rules of AWS Solutions", () => {
  const report = JSON.parse(readFileSync(join(shared.accountAssembly, "validation-report.json"), "utf8"));
  expect(report.pluginReports[0].violations).toEqual([]);
});
