import { createRequire } from "node:module";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { AnimalStoreStack } from "./stack.ts";
import { stackName, stages } from "./stages.ts";

// Set here and not in cdk.json, so that every way to synthesize returns the same templates.
const featureFlags = createRequire(import.meta.url)("aws-cdk-lib/recommended-feature-flags.json");

const app = new App({ context: featureFlags });
for (const stage of stages) {
  new AnimalStoreStack(app, stackName(stage.name), stage);
}

// Every synthesis, and so every deployment, fails on a finding of the AWS Solutions rules.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
