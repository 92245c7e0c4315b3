import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { stackName } from "../../infra/names.ts";
import { deployedStages } from "../../infra/stages.ts";
import { readTemplate } from "../../tools/generate/reviewed-templates.ts";
import type { Json } from "../support/json.ts";
import { shared } from "../support/shared.ts";
import { stageVariants } from "../support/stages.ts";

// CloudFormation knows a stack by its name, and a resource by its logical id, which follows from the ids of its constructs.
// With another name or id, a deployment creates another stack or resource, and all checks of the deployment succeed.

/** What is lost with another logical id. */
const permanent: Record<string, string> = {
  Pets118546E0: "the pets: the new table is empty",
  ApiKeys3BB3983D: "the keys: the new table is empty",
  ApiRestApiE35FEAFE: "the URL of every client",
  AlarmsPage688D8ED1: "the subscribers: a page wakes nobody",
  AlarmsNotice63A2833E: "the subscribers: a notice reaches nobody",
};

const deployment = readFileSync(new URL("../../docs/deployment.md", import.meta.url), "utf8");
const [, policy = ""] = /--stack-policy-body '(.*?)'/s.exec(deployment) ?? [];

it("every stack keeps its name", () => {
  const stacks = readdirSync(shared.assembly).flatMap(
    (file) => /^(.*)\.template\.json$/.exec(file)?.[1] ?? [],
  );
  const names = ["account", ...deployedStages.map(({ name }) => name)].map((name) => `animal-store-${name}`);
  expect(stacks.sort()).toEqual(names.sort());
});

describe.each(stageVariants)("in $name, $settings", ({ name: stage, assembly }) => {
  const resources: Record<string, Json> = readTemplate(assembly, stackName(stage)).Resources;
  const types = new Set(Object.keys(permanent).map((id) => resources[id]?.Type));

  it("these keep their logical ids, and every resource of these types is one of them", () => {
    const named = Object.keys(resources).filter((id) => types.has(resources[id]?.Type));
    expect(named.sort()).toEqual(Object.keys(permanent).sort());
  });

  it("the stack policy refuses to replace or delete these types, and nothing else", () => {
    const [allow, deny, ...others] = JSON.parse(policy).Statement;
    const of = { Principal: "*", Resource: "*" };
    expect([allow, others]).toEqual([{ ...of, Effect: "Allow", Action: "Update:*" }, []]);
    expect(deny).toMatchObject({ ...of, Effect: "Deny", Action: ["Update:Replace", "Update:Delete"] });
    expect(deny.Condition.StringEquals.ResourceType.sort()).toEqual([...types].sort());
  });
});
