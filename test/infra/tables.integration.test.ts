import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import { ORDER_ATTRIBUTE } from "../../lib/dynamo/item-creator.ts";
import { Pet } from "../../lib/pet.ts";
import { exampleOf } from "../../openapi/example-values.ts";
import { everyOption } from "../support/every-option.ts";
import type { Json } from "../support/json.ts";
import { functionNames, readResources } from "../support/resources.ts";
import { shared } from "../support/shared.ts";

// What outlives a mistake, a deployment or the stack, and for how long.

const KEPT = { DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" };
const DELETED = { DeletionPolicy: "Delete", UpdateReplacePolicy: "Delete" };

const { assembly: stages, optionsAssembly: options } = shared;
const unprotected = deployedStages.map((stage) => ({ ...stage, deletionProtection: false }));
describe.each([
  ...deployedStages.map((stage) => ({ of: stage.name, assembly: stages, stage })),
  ...unprotected.map((stage) => ({
    of: `${stage.name}, -c deletionProtection=off`,
    assembly: options,
    stage,
  })),
  { of: "a stage with every option", assembly: options, stage: everyOption },
])("$of", ({ assembly, stage }) => {
  const { name, retainData, pointInTimeRecovery, deletionProtection, logRetentionDays } = stage;
  const { find, fn, only, output } = readResources(assembly, stackName(name));
  const tables = find("DynamoDB::Table");
  const petsTable = tables.find(({ id }) => id === output("PetsTableName"));

  it("keeps every table if the stage keeps data, and can recover it", () => {
    for (const table of tables) {
      expect(table).toMatchObject(retainData ? KEPT : DELETED);
      const { DeletionProtectionEnabled = false, PointInTimeRecoverySpecification } = table;
      expect(DeletionProtectionEnabled).toBe(retainData && deletionProtection);
      expect(PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: pointInTimeRecovery });
    }
  });

  it("protects the stack against deletion if the stage is protected", () => {
    const manifest = JSON.parse(readFileSync(join(assembly, "manifest.json"), "utf8"));
    const { terminationProtection = false } = manifest.artifacts[stackName(name)].properties;
    expect(terminationProtection).toBe(deletionProtection);
  });

  it("copies whole pets to every index, from which lists are read", () => {
    const indexes = tables.flatMap(({ GlobalSecondaryIndexes = [] }) => GlobalSecondaryIndexes);
    const copied = indexes.map(({ Projection }) => Projection.ProjectionType);
    expect(new Set(copied)).toEqual(new Set(["ALL"]));
  });

  it("gives every key of the pets table the type of its field", () => {
    const types: Record<string, string> = { number: "N", string: "S" };
    const example = { ...Object(exampleOf(Pet)), [ORDER_ATTRIBUTE]: 1 };
    for (const { AttributeName, AttributeType } of petsTable.AttributeDefinitions)
      expect({ AttributeName, AttributeType }).toEqual({
        AttributeName,
        AttributeType: types[typeof example[AttributeName]],
      });
  });

  it("gives the partition key of each table a name that no other table has", () => {
    const names = tables.map(({ KeySchema }) => KeySchema[0].AttributeName);
    expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([]);
  });

  it("lists no retired id in an index", () => {
    const retired = ["id", "creationId", "fingerprint", "deletionId"];
    for (const { KeySchema } of petsTable.GlobalSecondaryIndexes)
      expect(KeySchema.filter(({ AttributeName }: Json) => !retired.includes(AttributeName))).not.toEqual([]);
  });

  it("lets no function delete an item", () => {
    const grants = functionNames.flatMap((name) => fn(name).grants as { action: string }[]);
    expect(grants.filter(({ action }) => /Delete|Batch|PartiQL|\*/.test(action))).toEqual([]);
  });

  it("deletes keys when they have ended, and never a pet", () => {
    const ends = tables.filter(({ TimeToLiveSpecification }) => TimeToLiveSpecification?.Enabled);
    const TimeToLiveSpecification = { AttributeName: "deleteAt" };
    expect(ends).toMatchObject([{ id: output("ApiKeysTableName"), TimeToLiveSpecification }]);
  });

  it("keeps every log as long as the stage says, whether the stack exists or not", () => {
    const groups = find("Logs::LogGroup");
    for (const group of groups)
      expect(group).toMatchObject({ ...DELETED, RetentionInDays: logRetentionDays });
    const written = find("Lambda::Function").map(({ LoggingConfig }) => LoggingConfig.LogGroup);
    written.push(only("ApiGateway::Stage").AccessLogSetting.DestinationArn.split(":").pop());
    expect(written.sort()).toEqual(groups.map(({ id }) => id).sort());
  });
});
