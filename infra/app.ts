import "./bundle/bundles.ts"; // first, so that esbuild runs while Node loads the CDK
import { App, Validations } from "aws-cdk-lib";
import { bundles } from "./bundle/bundles.ts";
import { bundledCode } from "./bundle/code.ts";
import { addStacks, featureFlags } from "./stacks.ts";

// The CDK's own checks only warn, and take longer than the synthesis. `npm run test:long -- deploy` runs cfn-lint.
const app = new App({ context: featureFlags, builtinCloudFormationValidation: false });
addStacks(app, bundledCode(await bundles));
// cdk-nag fails the deployment on an error of the AWS Solutions rules, and prints their warnings. `CDK_VALIDATION=false`,
// the CDK's switch for its own checks, turns it off.
if (process.env.CDK_VALIDATION !== "false") {
  const { AwsSolutionsChecks } = await import("cdk-nag");
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
