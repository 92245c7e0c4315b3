import { join } from "node:path";
import { App, Validations } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { AwsSolutionsChecks } from "cdk-nag";
import { AccountStack } from "../../infra/account-stack.ts";
import { AnimalStoreStack } from "../../infra/animal-store-stack.ts";
import { addStacks, featureFlags } from "../../infra/stacks.ts";
import { deployedStages, type Stage } from "../../infra/stages.ts";
import { exampleSettings, synthesizeAccount } from "./account.ts";

// Synthesizes what the stages do not use, and what the runbook uses once. Arguments: two empty folders, for the stages
// and for the account. This runs in a process of its own: Jest loads the CDK slowly and keeps it in memory.

const domain = {
  name: "api.example.com",
  certificateArn: "arn:aws:acm:us-east-1:111111111111:certificate/1",
  hostedZoneId: "Z1",
  hostedZoneName: "example.com",
  disableDefaultEndpoint: true,
};

const everyOption: Stage = {
  ...(deployedStages.find(({ wafRateLimits }) => wafRateLimits) as Stage),
  canaryDeployment: false,
  domain,
  provisionedConcurrency: { operation: 5, authorizer: 2 },
  reservedConcurrency: { operation: 50, authorizer: 20 },
  statusShards: { read: 8, write: 4 },
};

const [, , outdir = "", account = ""] = process.argv;
const functionCode = () => Code.fromAsset(import.meta.dirname);
const withContext = (context: object, folder: string) => {
  const app = new App({ context: { ...featureFlags, ...context }, outdir: folder });
  addStacks(app, functionCode);
  return app;
};
withContext({ canaryAlarms: "off" }, join(outdir, "canaryAlarms")).synth();
const app = withContext({ deletionProtection: "off" }, outdir);
const options = { functionCode, ignoreCanaryAlarms: false };
new AnimalStoreStack(app, "every-option", everyOption, options);
new AnimalStoreStack(
  app,
  "both-endpoints",
  { ...everyOption, domain: { ...domain, disableDefaultEndpoint: false } },
  options,
);
new AccountStack(app, "existing-provider", deployedStages, {
  repository: { ...exampleSettings.repository, oidcProviderExists: true },
});
app.synth();
const regions = new App({ context: { ...featureFlags, stage: "anna" }, outdir: join(outdir, "regions") });
// The first one leaves the region to the environment, and so does the personal stage.
const stages = deployedStages.map((stage, n) => (n ? { ...stage, region: `xx-place-${n}` } : stage));
addStacks(regions, functionCode, stages, exampleSettings);
Validations.of(regions).addPlugins(new AwsSolutionsChecks(regions));
regions.synth();
synthesizeAccount(exampleSettings, account);
