import { expect, it } from "@jest/globals";
import { deployedStages } from "../../../infra/stages.ts";

it("names a stage in lower-case letters, as the keys of the stage do", () => {
  for (const { name } of deployedStages) expect(name).toMatch(/^[a-z]+$/);
});

it("protects a stage that keeps data: against deletion, against too many requests and against a bad deployment", () => {
  const kept = deployedStages.filter(({ retainData }) => retainData);
  expect(kept.length).toBeGreaterThan(0);
  for (const { deletionProtection, wafRateLimits, canaryDeployment } of kept)
    expect([deletionProtection, wafRateLimits !== undefined, canaryDeployment]).toEqual([true, true, true]);
});
