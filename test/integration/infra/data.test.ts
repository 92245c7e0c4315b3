import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { deployedStages, type Stage, stackName } from "../../../infra/stages.ts";
import { readResources } from "../../support/resources.ts";

// What outlives a mistake, a deployment or the stack, and for how long.

const KEPT = { DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" };
const DELETED = { DeletionPolicy: "Delete", UpdateReplacePolicy: "Delete" };

const { TEST_ASSEMBLY, TEST_OPTIONS_ASSEMBLY } = process.env;
const unprotected = { deletionProtection: false };
const stacks: [string, string | undefined, Stage][] = deployedStages.flatMap((stage) => [
  [stage.name, TEST_ASSEMBLY, stage],
  [`${stage.name} with -c deletionProtection=off`, TEST_OPTIONS_ASSEMBLY, { ...stage, ...unprotected }],
]);

describe.each(stacks)("%s", (_, assembly, stage) => {
  const { name, retainData, pointInTimeRecovery, deletionProtection, logRetentionDays } = stage;
  const { find, fn, output } = readResources(assembly, stackName(name));
  const tables = find("DynamoDB::Table");
  const table = (id: string) => tables.find((resource) => resource.id === id);
  const claims = fn("createPet").Environment.Variables.CLAIMS_TABLE;

  it("keeps every table if the stage keeps data, and can recover all but the claims", () => {
    for (const resource of tables) {
      expect(resource).toMatchObject(retainData ? KEPT : DELETED);
      const { DeletionProtectionEnabled = false, PointInTimeRecoverySpecification } = resource.Properties;
      expect(DeletionProtectionEnabled).toBe(retainData && deletionProtection);
      const recoverable = pointInTimeRecovery && resource.id !== claims;
      expect(PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: recoverable });
    }
  });

  it("protects the stack against deletion if the stage is protected", () => {
    const manifest = JSON.parse(readFileSync(join(assembly ?? "", "manifest.json"), "utf8"));
    const { terminationProtection = false } = manifest.artifacts[stackName(name)].properties;
    expect(terminationProtection).toBe(deletionProtection);
  });

  it("copies whole pets to every index, from which lists are read", () => {
    const { GlobalSecondaryIndexes: indexes } = table(output("PetsTableName"))?.Properties ?? {};
    expect(indexes).not.toEqual([]);
    for (const { Projection } of indexes) expect(Projection).toEqual({ ProjectionType: "ALL" });
  });

  it("deletes claims and keys when they have ended, and never a pet", () => {
    const endOf = (id: string) => table(id)?.Properties.TimeToLiveSpecification;
    expect([claims, output("ApiKeysTableName"), output("PetsTableName")].map(endOf)).toEqual([
      { AttributeName: "expiresAt", Enabled: true },
      { AttributeName: "deleteAt", Enabled: true },
      undefined,
    ]);
  });

  it("keeps every log as long as the stage says, whether the stack exists or not", () => {
    const groups = find("Logs::LogGroup");
    for (const group of groups)
      expect(group).toMatchObject({ ...DELETED, Properties: { RetentionInDays: logRetentionDays } });
    const [{ AccessLogSetting }] = find("ApiGateway::Stage").map(({ Properties }) => Properties);
    const written = find("Lambda::Function").map(({ Properties }) => Properties.LoggingConfig.LogGroup);
    written.push(AccessLogSetting.DestinationArn.split(":").pop());
    expect(written.sort()).toEqual(groups.map(({ id }) => id).sort());
  });
});
