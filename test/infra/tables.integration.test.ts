import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import type { Json } from "../support/json.ts";
import { functionNames, readResources } from "../support/resources.ts";
import { shared } from "../support/shared.ts";

describe.each(deployedStages)("in $name", ({ name, retainData, deletionProtection }) => {
  it("-c deletionProtection=off protects nothing, and tables that keep data still outlive the stack", () => {
    const protects = [shared.assembly, shared.optionsAssembly].map((assembly) => {
      const tables = readResources(assembly, stackName(name)).find("DynamoDB::Table");
      for (const { DeletionPolicy } of tables)
        expect(DeletionPolicy).toBe(retainData ? "RetainExceptOnCreate" : "Delete");
      const manifest = JSON.parse(readFileSync(join(assembly, "manifest.json"), "utf8"));
      const { terminationProtection = false } = manifest.artifacts[stackName(name)].properties;
      return [terminationProtection, ...tables.map((table) => table.DeletionProtectionEnabled ?? false)];
    });
    expect(protects).toEqual([
      [deletionProtection, ...Array(2).fill(retainData && deletionProtection)],
      [false, false, false],
    ]);
  });

  const { find, fn, output } = readResources(shared.assembly, stackName(name));
  const tables = find("DynamoDB::Table");
  const petsTable = tables.find(({ id }) => id === output("PetsTableName"));

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
