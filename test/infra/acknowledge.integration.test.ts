import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { accountStackName, stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import type { Json } from "../support/json.ts";
import { shared } from "../support/shared.ts";

it("satisfies the rules of AWS Solutions, with a reason for every finding that does not apply, and no other", () => {
  const read = (file: string): Json => JSON.parse(readFileSync(join(shared.assembly, file), "utf8"));
  const { pluginReports } = read("validation-report.json");
  expect(pluginReports).toMatchObject([
    { pluginName: "AwsSolutions", conclusion: "success", violations: [] },
  ]);
  const findings: string[] = pluginReports[0].suppressedViolations.flatMap(
    ({ ruleName, violatingConstructs }: Json) =>
      violatingConstructs.map(({ constructPath }: Json) => `AwsSolutions::${ruleName} /${constructPath}`),
  );
  const stacks = [...deployedStages.map(({ name }) => stackName(name)), accountStackName];
  const reasons = stacks.flatMap((stack) =>
    Object.entries<Json[]>(read(`${stack}.metadata.json`)).flatMap(([path, entries]) =>
      entries
        .filter(({ type }) => type === "aws:cdk:acknowledged-rules")
        .flatMap(({ data }) => Object.keys(data).map((rule) => `${rule} ${path}`)),
    ),
  );
  // All methods have the same authorizer. Every other reason is for one finding.
  const ofAll = deployedStages.map(
    ({ name }) => `AwsSolutions::AwsSolutions-COG4 /${stackName(name)}/Api/RestApi`,
  );
  const others = reasons.filter(
    (reason) => findings.filter((one) => one.startsWith(`${reason}/`)).length !== 1,
  );
  expect(others).toEqual(ofAll);
});
