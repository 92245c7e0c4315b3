import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { KEY_TTL_ATTRIBUTE } from "../../lib/dynamo/schema.ts";
import type { Json } from "../support/json.ts";
import { functionNames, readResources } from "../support/resources.ts";
import { stageVariants } from "../support/stages.ts";

describe.each(stageVariants)("in $name, $settings", ({ name, assembly, retainData, deletionProtection }) => {
  const { find, fn, output } = readResources(assembly, stackName(name));
  const tables = find("DynamoDB::Table");
  const petsTable = tables.find(({ id }) => id === output("PetsTableName"));

  // The filled-in stages have -c deletionProtection=off.
  it("protects the stack, and the tables that keep data, which also outlive it", () => {
    const manifest = JSON.parse(readFileSync(join(assembly, "manifest.json"), "utf8"));
    const { terminationProtection = false } = manifest.artifacts[stackName(name)].properties;
    expect(terminationProtection).toBe(deletionProtection);
    for (const { DeletionPolicy, DeletionProtectionEnabled = false } of tables)
      expect({ DeletionPolicy, DeletionProtectionEnabled }).toEqual({
        DeletionPolicy: retainData ? "RetainExceptOnCreate" : "Delete",
        DeletionProtectionEnabled: retainData && deletionProtection,
      });
  });

  it("deletes keys some time after their end, by the attribute that the store writes", () => {
    const { TimeToLiveSpecification } = tables.find(({ id }) => id === output("ApiKeysTableName"));
    expect(TimeToLiveSpecification).toEqual({ AttributeName: KEY_TTL_ATTRIBUTE, Enabled: true });
  });

  it("gives the partition key of each table a name that no other table has", () => {
    const names = tables.map(({ KeySchema }) => KeySchema[0].AttributeName);
    expect(new Set(names).size).toBe(names.length);
  });

  it("lists no retired id in an index, and lets no function delete an item", () => {
    const retired = ["id", "creationId", "fingerprint", "deletionId"];
    for (const { KeySchema } of petsTable?.GlobalSecondaryIndexes ?? [])
      expect(KeySchema.filter(({ AttributeName }: Json) => !retired.includes(AttributeName))).not.toEqual([]);
    const grants = functionNames.flatMap((one) => fn(one).grants as { action: string }[]);
    expect(grants.filter(({ action }) => /Delete|Batch|PartiQL|\*/.test(action))).toEqual([]);
  });
});
