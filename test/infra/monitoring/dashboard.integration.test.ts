import { expect, it } from "@jest/globals";
import { evaluate } from "../../../emulator/template/intrinsics.ts";
import { stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

it.each(deployedStages)(
  "$name has a dashboard whose name is unique in the account, over all regions",
  ({ name }) => {
    const { DashboardName } = readResources(shared.assembly, stackName(name)).only("CloudWatch::Dashboard");
    expect(DashboardName).toBe(`${stackName(name)}-${evaluate({ Ref: "AWS::Region" })}`);
  },
);
