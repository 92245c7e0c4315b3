import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "@jest/globals";
import { accountStackName, deployedStages, stackName } from "../../../infra/stages.ts";
import { FOLDER, fileOf, files, reviewable } from "../../support/normalize.ts";

// `npm run generate` writes them again. Whoever changes what is deployed reviews the difference.
const reviewed = (stack: string) => readFileSync(fileOf(stack), "utf8");
const assembly = process.env.TEST_ASSEMBLY ?? "";

it.each(deployedStages.map(({ name }) => stackName(name)))("%s deploys what was reviewed", (stack) => {
  expect(reviewable(assembly, stack)).toBe(reviewed(stack));
});

it("the account stack deploys what was reviewed, for an example repository", () => {
  const folder = process.env.TEST_ACCOUNT_ASSEMBLY ?? "";
  expect(reviewable(folder, accountStackName)).toBe(reviewed(accountStackName));
  const report = JSON.parse(readFileSync(join(folder, "validation-report.json"), "utf8"));
  expect(report.pluginReports[0].violations).toEqual([]);
});

it("every reviewed template belongs to a stack", () => {
  expect(readdirSync(FOLDER).sort()).toEqual(files.map(({ pathname }) => basename(pathname)).sort());
});
