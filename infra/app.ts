import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { addStacks, featureFlags } from "./stacks.ts";

const app = new App({ context: featureFlags });
addStacks(app);
// Every synthesis, and so every deployment, fails on a finding of the AWS Solutions rules.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
