import { createRequire } from "node:module";
import type { App } from "aws-cdk-lib";
import { AccountStack } from "./account-stack.ts";
import { AnimalStoreStack } from "./animal-store-stack.ts";
import { budget } from "./budget.ts";
import type { FunctionCode } from "./bundle/code.ts";
import { githubRepository } from "./github-repository.ts";
import { accountStackName, deployedStages, stackName } from "./stages.ts";

/** Set in code and not in cdk.json, so that every way to synthesize returns the same templates. */
export const featureFlags: Record<string, unknown> = createRequire(import.meta.url)(
  "aws-cdk-lib/recommended-feature-flags.json",
);

/**
 * Adds the account's stack and those of the stages. docs/deployment.md and docs/incidents.md say when to use the context values
 * `-c deletionProtection=off` and `-c canaryAlarms=off`.
 */
export function addStacks(app: App, functionCode: FunctionCode): void {
  const off = (name: string) => app.node.tryGetContext(name) === "off";
  const account = new AccountStack(app, accountStackName, deployedStages, {
    repository: githubRepository,
    budget,
  });
  for (const stage of deployedStages) {
    const stack = new AnimalStoreStack(
      app,
      stackName(stage.name),
      { ...stage, deletionProtection: stage.deletionProtection && !off("deletionProtection") },
      { functionCode, ignoreCanaryAlarms: off("canaryAlarms") },
    );
    // A stage cannot write its access log before API Gateway has the account's role.
    stack.addStackDependency(account);
  }
}
