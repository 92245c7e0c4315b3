import { createRequire } from "node:module";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { AccountStack } from "./account-stack.ts";
import { repository } from "./repository.ts";
import { AnimalStoreStack } from "./stack.ts";
import { accountStack, stackName, stages } from "./stages.ts";

// Set here and not in cdk.json, so that every way to synthesize returns the same templates.
const featureFlags = createRequire(import.meta.url)("aws-cdk-lib/recommended-feature-flags.json");
const app = new App({ context: featureFlags });

// docs/operations.md says when to use both: `cdk deploy -c protection=off`, `-c releaseAlarms=off`.
const off = (name: string) => app.node.tryGetContext(name) === "off";

const account = new AccountStack(app, accountStack, { stages, repository });
for (const stage of stages) {
  const stack = new AnimalStoreStack(
    app,
    stackName(stage.name),
    { ...stage, protection: stage.protection && !off("protection") },
    { ignoreAlarms: off("releaseAlarms") },
  );
  // A stage cannot write its access log before API Gateway has the account's role.
  stack.addStackDependency(account);
}

// Every synthesis, and so every deployment, fails on a finding of the AWS Solutions rules.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
