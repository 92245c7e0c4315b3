import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { addStacks, featureFlags } from "./stacks.ts";

const app = new App({ context: featureFlags });
addStacks(app);
// A deployment fails on a finding of the AWS Solutions rules. The variable is the CDK's own, for its other checks.
if (process.env.CDK_VALIDATION !== "false") Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
