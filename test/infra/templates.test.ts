import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { Template } from "aws-cdk-lib/assertions";
import { accountStack, stackName, stages } from "../../infra/stages.ts";
import { accountStackFor, exampleRepository } from "./account.ts";
import { normalize, readTemplate, TEMPLATES_FOLDER } from "./normalize.ts";

// `npm run templates` writes them again. Whoever changes what is deployed reviews the difference.
const reviewed = (stack: string) => readFileSync(new URL(`${stack}.yaml`, TEMPLATES_FOLDER), "utf8");
const assembly = process.env.TEST_ASSEMBLY ?? "";

it.each(stages.map(({ name }) => stackName(name)))("%s deploys what was reviewed", (stack) => {
  expect(normalize(readTemplate(assembly, stack))).toBe(reviewed(stack));
});

it("the account stack deploys what was reviewed, for an example repository", () => {
  const template = Template.fromStack(accountStackFor(exampleRepository)).toJSON();
  expect(normalize(template)).toBe(reviewed(accountStack));
});

it("every reviewed template belongs to a stack", () => {
  const stacks = [accountStack, ...stages.map(({ name }) => stackName(name))];
  expect(readdirSync(TEMPLATES_FOLDER).sort()).toEqual(stacks.map((stack) => `${stack}.yaml`).sort());
});
