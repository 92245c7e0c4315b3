import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import type { Json } from "../support/json.ts";
import { readTemplate } from "../support/reviewed-templates.ts";
import { shared } from "../support/shared.ts";

// CloudFormation knows a stack by its name, and a resource by its logical id, which follows from the ids of its constructs.
// With another name or id, a deployment creates another stack or resource, and all checks of the deployment succeed.

/** The deployed stacks. A stack with another name has no pets and no keys. */
const stacks = ["animal-store-account", "animal-store-production", "animal-store-staging"];

/** What is lost with another logical id. */
const permanent: Record<string, string> = {
  Pets118546E0: "the pets: the new table is empty",
  ApiKeys3BB3983D: "the keys: the new table is empty",
  ApiRestApiE35FEAFE: "the URL of every client",
  AlarmsPage688D8ED1: "the subscribers: a page wakes nobody",
  AlarmsNotice63A2833E: "the subscribers: a notice reaches nobody",
};

const policy = /--stack-policy-body '(.*?)'/s.exec(
  readFileSync(new URL("../../docs/deployment.md", import.meta.url), "utf8"),
);

it("every stack keeps its name", () => {
  const { artifacts } = JSON.parse(readFileSync(join(shared.assembly, "manifest.json"), "utf8"));
  const isStack = (id: string) => artifacts[id].type === "aws:cloudformation:stack";
  expect(Object.keys(artifacts).filter(isStack).sort()).toEqual(stacks);
});

describe.each(deployedStages.map(({ name }) => name))("in %s", (stage) => {
  const resources: Record<string, Json> = readTemplate(shared.assembly, stackName(stage)).Resources;
  const types = new Set(Object.keys(permanent).map((id) => resources[id]?.Type));

  it.each(Object.entries(permanent))("%s keeps its logical id, and with it %s", (id) => {
    expect(Object.keys(resources)).toContain(id);
  });

  // The old version reads them in a canary deployment: remove one as CONTRIBUTING.md says.
  it("keeps its indexes", () => {
    const indexes = Object.keys(permanent).flatMap(
      (id) => resources[id]?.Properties.GlobalSecondaryIndexes ?? [],
    );
    expect(indexes.map(({ IndexName }) => IndexName)).toEqual(["byStatus"]);
  });

  it("names every resource of these types", () => {
    const named = Object.keys(resources).filter((id) => types.has(resources[id]?.Type));
    expect(named.sort()).toEqual(Object.keys(permanent).sort());
  });

  it("the stack policy refuses to replace or delete these types, and nothing else", () => {
    const statements: Json[] = JSON.parse(policy?.[1] ?? "").Statement;
    const allows = (action: string, type: string) => {
      const effects = statements
        .filter(({ Action }) => [Action].flat().some((one) => one === "Update:*" || one === action))
        .filter(({ Condition }) => !Condition || Condition.StringEquals.ResourceType.includes(type))
        .map(({ Effect }) => Effect);
      return effects.includes("Allow") && !effects.includes("Deny");
    };
    for (const { Type } of Object.values(resources)) {
      const refused = ["Modify", "Replace", "Delete"].filter((one) => !allows(`Update:${one}`, Type));
      expect({ Type, refused }).toEqual({ Type, refused: types.has(Type) ? ["Replace", "Delete"] : [] });
    }
  });
});
