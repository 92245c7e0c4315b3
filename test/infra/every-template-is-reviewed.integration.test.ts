import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { FOLDER, reviewedFiles } from "../../tools/generate/reviewed-templates.ts";
import type { Json } from "../support/json.ts";
import { shared } from "../support/shared.ts";
import { bare, filledIn } from "../support/stages.ts";

const files = reviewedFiles(shared.assembly, filledIn.assembly);

// `npm run generate` writes them again. Whoever changes what is deployed reviews the difference.
it.each(Object.entries(files))("%s has what is deployed", (file, deployed) => {
  expect(deployed).toBe(readFileSync(new URL(file, FOLDER), "utf8"));
});

it("every reviewed template belongs to a stack", () => {
  expect(readdirSync(FOLDER).sort()).toEqual(Object.keys(files).sort());
});

// The CDK's own checks run for the first one only.
it.each([{ name: "as committed", assembly: shared.assembly }, bare, filledIn])(
  "the checks of the stacks, $name, warn of nothing, unless this app does on purpose",
  ({ assembly }) => {
    const report: Json = JSON.parse(readFileSync(join(assembly, "validation-report.json"), "utf8"));
    const plugins = report.pluginReports.map(({ pluginName }: Json) => pluginName);
    expect(plugins).toContain("AwsSolutions");
    const warnings: string[] = report.pluginReports.flatMap(({ violations }: Json) =>
      violations.map(({ ruleName, description }: Json) => `${ruleName}: ${description}`),
    );
    expect(warnings.filter((warning) => !warning.startsWith("Annotation::animal-store"))).toEqual([]);
  },
);
