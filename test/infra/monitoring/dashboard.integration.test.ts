import { expect, it } from "@jest/globals";
import { evaluate } from "../../../emulator/template/intrinsics.ts";
import { stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import type { Json } from "../../support/json.ts";
import { readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

it.each(deployedStages)("$name draws the percentiles that its dashboard names", ({ name }) => {
  const { DashboardBody } = readResources(shared.assembly, stackName(name)).only("CloudWatch::Dashboard");
  const drawn: [label: string, stat: string][] = JSON.parse(DashboardBody).widgets.flatMap(
    ({ properties: { title = "", metrics = [] } }: Json) =>
      metrics
        .map((metric: Json) => metric.at(-1))
        .map(({ label, stat }: Json) => [`${title}, ${label}`, stat])
        .filter(([label]: [string]) => /\bp\d\d\b/.test(label)),
  );
  expect(drawn).not.toEqual([]);
  for (const [label, stat] of drawn) expect([label, /\bp\d\d\b/.exec(label)?.[0]]).toEqual([label, stat]);
});

it.each(deployedStages)(
  "$name has a dashboard whose name is unique in the account, over all regions",
  ({ name }) => {
    const { DashboardName } = readResources(shared.assembly, stackName(name)).only("CloudWatch::Dashboard");
    expect(DashboardName).toBe(`${stackName(name)}-${evaluate({ Ref: "AWS::Region" })}`);
  },
);
