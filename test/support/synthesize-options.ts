import { join } from "node:path";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { AnimalStoreStack } from "../../infra/animal-store-stack.ts";
import { addStacks, featureFlags } from "../../infra/stacks.ts";
import { exampleSettings } from "../../tools/generate/account.ts";
import { everyOption } from "./every-option.ts";

// Synthesizes what the stages do not use, and what the procedures use once. Arguments: two empty folders, for the stages
// and for an account with a repository and a budget. This runs in a process of its own: Jest loads the CDK slowly and keeps
// it in memory.

const [, , outdir = "", account = ""] = process.argv;
const codeFolder = () => import.meta.dirname; // any
const app = new App({ context: { ...featureFlags, deletionProtection: "off" }, outdir });
addStacks(app, codeFolder);
new AnimalStoreStack(app, everyOption, codeFolder);
app.synth();
const filledIn = new App({ context: { ...featureFlags, stage: "anna" }, outdir: account });
addStacks(filledIn, codeFolder, exampleSettings);
Validations.of(filledIn).addPlugins(new AwsSolutionsChecks(filledIn));
filledIn.synth();
const ofStaging = new App({ context: featureFlags, outdir: join(account, "of-staging") });
addStacks(ofStaging, codeFolder, exampleSettings, exampleSettings.repository.accounts.staging);
ofStaging.synth();
