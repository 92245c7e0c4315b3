import { expect, it } from "@jest/globals";
import { deployedStages, namedStages, personalStage, stageNamed } from "../../infra/stages.ts";

it("names a stage in lower-case letters, as the keys of the stage do", () => {
  for (const { name } of deployedStages) expect(name).toMatch(/^[a-z]+$/);
});

it("protects a stage that keeps data: against deletion, lost data, too many requests and a bad deployment", () => {
  const kept = deployedStages.filter(({ retainData }) => retainData);
  expect(kept.length).toBeGreaterThan(0);
  const safe = {
    deletionProtection: true,
    pointInTimeRecovery: true,
    wafRateLimits: expect.anything(),
    canaryDeployment: true,
  };
  for (const stage of kept) expect(stage).toEqual({ ...stage, ...safe });
});

it("makes a personal stage like production, for a rehearsal, without a domain name and without what keeps data", () => {
  const [production] = deployedStages.filter(({ retainData }) => retainData);
  const own = personalStage("anna", production?.name);
  const { name, retainData, pointInTimeRecovery, deletionProtection, confirmKeyChanges, ...settings } = own;
  expect({ ...production, domain: undefined }).toMatchObject(settings);
  expect(name).toBe("anna");
  expect([retainData, pointInTimeRecovery, deletionProtection, confirmKeyChanges]).toEqual([
    ...Array(4).fill(false),
  ]);
  expect(settings).toMatchObject({ canaryDeployment: true, wafRateLimits: expect.anything() });
});

it("finds every stage by its name, and makes a personal stage of any other that has the form", () => {
  for (const stage of namedStages) expect(stageNamed(stage.name)).toBe(stage);
  expect(stageNamed("anna")).toEqual(personalStage("anna"));
  const refused = [
    "",
    "Anna",
    "anna2",
    "an-na",
    "é",
    "a".repeat(33),
    "account",
    ...namedStages.map(({ name }) => name),
  ];
  for (const name of refused) expect(() => personalStage(name)).toThrow(/^A personal stage needs a name of/);
});
