import { join } from "node:path";
import { App, CfnOutput, Stack, Validations } from "aws-cdk-lib";
import { Operation } from "aws-cdk-lib/aws-dynamodb";
import { Code } from "aws-cdk-lib/aws-lambda";
import { AwsSolutionsChecks } from "cdk-nag";
import { AnimalStoreStack } from "../../infra/animal-store-stack.ts";
import { ApiFunction } from "../../infra/api-function.ts";
import { addStacks, featureFlags } from "../../infra/stacks.ts";
import { PetsTable } from "../../infra/tables.ts";
import { everyOption, exampleSettings } from "./every-option.ts";

// Synthesizes what the stages do not use, and what the procedures use once. Arguments: two empty folders, for the stages
// and for an account with a repository and a budget. This runs in a process of its own: Jest loads the CDK slowly and keeps
// it in memory.

const [, , outdir = "", account = ""] = process.argv;
const codeFolder = () => import.meta.dirname; // any
const app = new App({ context: { ...featureFlags, deletionProtection: "off", canaryAlarms: "off" }, outdir });
addStacks(app, codeFolder);
new AnimalStoreStack(app, everyOption, codeFolder);
const domain = everyOption.domain && { ...everyOption.domain, disableDefaultEndpoint: false };
new AnimalStoreStack(app, { ...everyOption, domain }, codeFolder, undefined, "both-endpoints");
for (const [id, ...indexes] of [
  ["one-access", "any"],
  ["two-accesses", "any", undefined],
] as const) {
  const stack = new Stack(app, id);
  const table = new PetsTable(stack, "Pets", everyOption);
  const { tableThrottles } = new ApiFunction(stack, "Same", {
    kind: "operation",
    access: indexes.map((index) => ({ table, operations: [Operation.QUERY], ...(index && { index }) })),
    code: Code.fromAsset(codeFolder()),
    logRetentionDays: 1,
    canaryDeployment: true,
    retainRoles: false,
  });
  new CfnOutput(stack, "Throttles", { value: [...tableThrottles.keys()].join() });
}
app.synth();
const filledIn = new App({ context: { ...featureFlags, stage: "anna" }, outdir: account });
addStacks(filledIn, codeFolder, exampleSettings);
Validations.of(filledIn).addPlugins(new AwsSolutionsChecks(filledIn));
filledIn.synth();
const ofStaging = new App({ context: featureFlags, outdir: join(account, "of-staging") });
addStacks(ofStaging, codeFolder, exampleSettings, exampleSettings.repository.accounts.staging);
ofStaging.synth();
