import { expect, it } from "@jest/globals";
import { deployedStages } from "../../infra/stages.ts";

it("protects a stage that keeps data against deletion, losses, floods and bad deployments", () => {
  const kept = deployedStages.filter(({ retainData }) => retainData);
  expect(kept).not.toEqual([]);
  const safe = {
    deletionProtection: true,
    pointInTimeRecovery: true,
    rollout: expect.stringMatching("CANARY"),
  };
  for (const stage of kept) expect(stage).toMatchObject({ ...safe, wafRateLimits: expect.anything() });
});
