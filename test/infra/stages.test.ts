import { expect, it } from "@jest/globals";
import { deployedStages, namedStages, personalStage, stageNamed } from "../../infra/stages.ts";

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

it("finds every stage by its name, and makes a personal stage of any other valid name", () => {
  for (const stage of namedStages) expect(stageNamed(stage.name)).toBe(stage);
  const [staging] = deployedStages;
  expect(stageNamed("anna")).toEqual({ ...staging, name: "anna", domain: undefined, alarmEmails: undefined });
});

it.each([
  "",
  "Anna",
  "anna2",
  "an-na",
  "é",
  "a".repeat(33),
  "account",
  ...namedStages.map(({ name }) => name),
])("makes no personal stage of the name %j", (name) =>
  expect(() => personalStage(name)).toThrow(/^A personal stage needs a name of/),
);
