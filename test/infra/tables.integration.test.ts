import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { deployedStages, type Stage } from "../../infra/stages.ts";
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

const unprotected = { deletionProtection: false };
const stacks: [string, string | undefined, Stage][] = [
  ...deployedStages.flatMap((stage): [string, string | undefined, Stage][] => [
    [stage.name, shared.assembly, stage],
    [`${stage.name} with -c deletionProtection=off`, shared.optionsAssembly, { ...stage, ...unprotected }],
  ]),
  ["a stage with every option", shared.optionsAssembly, everyOption],
];

describe.each(stacks)("%s", (_, assembly, stage) => {
  const { name, retainData, pointInTimeRecovery, deletionProtection, logRetentionDays } = stage;
  const { find, fn, only, output } = readResources(assembly, stackName(name));
  const tables = find("DynamoDB::Table");
  const [pets, keys] = [output("PetsTableName"), output("ApiKeysTableName")];

  it("keeps every table if the stage keeps data, and can recover it", () => {
    for (const table of tables) {
      expect(table).toMatchObject(retainData ? KEPT : DELETED);
      const { DeletionProtectionEnabled = false, PointInTimeRecoverySpecification } = table;
      expect(DeletionProtectionEnabled).toBe(retainData && deletionProtection);
      expect(PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: pointInTimeRecovery });
    }
  });

  it("protects the stack against deletion if the stage is protected", () => {
    const manifest = JSON.parse(readFileSync(join(assembly ?? "", "manifest.json"), "utf8"));
    const { terminationProtection = false } = manifest.artifacts[stackName(name)].properties;
    expect(terminationProtection).toBe(deletionProtection);
  });

  it("copies whole pets to every index, from which lists are read", () => {
    const indexes = tables.flatMap(({ GlobalSecondaryIndexes = [] }) => GlobalSecondaryIndexes);
    expect(indexes).not.toEqual([]);
    for (const { Projection } of indexes) expect(Projection).toEqual({ ProjectionType: "ALL" });
  });

  it("gives every key of the pets table and its indexes the type of the attribute, without which no pet can be added", () => {
    const types: Record<string, string> = { number: "N", string: "S" };
    const example = { ...Object(exampleOf(Pet)), [ORDER_ATTRIBUTE]: 1 };
    for (const { AttributeDefinitions } of tables.filter(({ id }) => id === pets))
      for (const { AttributeName, AttributeType } of AttributeDefinitions)
        expect([AttributeName, AttributeType]).toEqual([AttributeName, types[typeof example[AttributeName]]]);
  });

  it("gives the partition key of each table a name that no other table has", () => {
    const names = tables.map(({ KeySchema }) => KeySchema[0].AttributeName);
    expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([]);
  });

  it("lists no retired id in an index", () => {
    const retired = ["id", "creationId", "fingerprint", "deletionId"];
    for (const { GlobalSecondaryIndexes = [] } of tables.filter(({ id }) => id === pets))
      for (const { KeySchema } of GlobalSecondaryIndexes) {
        const names = KeySchema.map(({ AttributeName }: Json) => AttributeName);
        expect(retired).not.toEqual(expect.arrayContaining(names));
      }
  });

  it("lets no function delete an item", () => {
    const actions: string[] = functionNames.flatMap((name) =>
      fn(name).grants.map(({ action }: Json) => action),
    );
    expect(actions).toContain("dynamodb:PutItem");
    expect(actions.filter((action) => /Delete|Batch|PartiQL|\*/.test(action))).toEqual([]);
  });

  it("deletes keys when they have ended, and never a pet", () => {
    const ends = tables.flatMap(({ id, TimeToLiveSpecification: end }) =>
      end?.Enabled ? [[id, end.AttributeName]] : [],
    );
    expect(ends).toEqual([[keys, "deleteAt"]]);
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
