import "./bundle/bundles.ts"; // first, so that esbuild runs while Node loads the CDK
import { App, Validations } from "aws-cdk-lib";
import { bundles } from "./bundle/bundles.ts";
import { bundledCode } from "./bundle/code.ts";
import { addStacks, featureFlags } from "./stacks.ts";

const app = new App({ context: featureFlags });
addStacks(app, bundledCode(await bundles));
// A deployment fails on an error of the AWS Solutions rules, and prints their warnings. The variable is the CDK's own, for its other checks.
if (process.env.CDK_VALIDATION !== "false") {
  const { AwsSolutionsChecks } = await import("cdk-nag");
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
