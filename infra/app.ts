import { join } from "node:path";
import { bundleFunctions, writeBundles } from "./bundle/bundles.ts";

// esbuild is a process of its own, and runs while Node loads the CDK.
const [bundles, { addStacks, featureFlags }] = await Promise.all([bundleFunctions(), import("./stacks.ts")]);
const { App, Validations } = await import("aws-cdk-lib");

// The CDK's own checks only warn, and take longer than the synthesis. `npm run test:long -- deploy` runs cfn-lint.
const app = new App({ context: featureFlags, builtinCloudFormationValidation: false });
const folder = join(app.outdir, "bundles");
writeBundles(bundles, folder);
addStacks(app, (entry) => join(folder, entry));
// cdk-nag fails the deployment on an error of the AWS Solutions rules, and prints their warnings. `CDK_VALIDATION=false`,
// the CDK's switch for its own checks, turns it off.
if (process.env.CDK_VALIDATION !== "false") {
  const { AwsSolutionsChecks } = await import("cdk-nag");
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
