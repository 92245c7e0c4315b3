import { join } from "node:path";
import { bundleFunctions, writeBundles } from "./bundle/bundles.ts";

// esbuild is a separate process, and runs while Node loads the CDK.
const [bundles, { addStacks, featureFlags }] = await Promise.all([bundleFunctions(), import("./stacks.ts")]);
const { App, Validations } = await import("aws-cdk-lib");

const app = new App({ context: featureFlags });
const folder = join(app.outdir, "bundles");
writeBundles(bundles, folder);
addStacks(app, (entry) => join(folder, entry));
// The CDK checks what the schemas of the resources allow, and cdk-nag the AWS Solutions rules. An error of either fails the
// deployment, and warnings are printed. `CDK_VALIDATION=false`, the CDK's switch for its own checks, turns both off.
if (process.env.CDK_VALIDATION !== "false") {
  const { AwsSolutionsChecks } = await import("cdk-nag");
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
