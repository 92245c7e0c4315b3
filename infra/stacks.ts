import { createRequire } from "node:module";
import type { App } from "aws-cdk-lib";
import { type AccountSettings, AccountStack } from "./account-stack.ts";
import { AnimalStoreStack } from "./animal-store-stack.ts";
import { budget } from "./budget.ts";
import type { FunctionCode } from "./bundle/code.ts";
import { githubRepository } from "./github-repository.ts";
import { accountStackName, deployedStages, personalStage, type Stage, stackName } from "./stages.ts";

/** Set in code and not in cdk.json, so that every way to synthesize returns the same templates. */
export const featureFlags: Record<string, unknown> = createRequire(import.meta.url)(
  "aws-cdk-lib/recommended-feature-flags.json",
);

/**
 * Adds the stacks of the stages, and what they share: a stack in each region, the first of which has the OIDC provider and
 * the budget. docs/deployment.md and docs/incidents.md say when to use the context values `-c deletionProtection=off`,
 * `-c canaryAlarms=off` and `-c stage=<name>`, which adds a personal stage.
 *
 * @param settings what someone fills in for the account
 * @throws Error in one line if a personal stage cannot have this name
 */
export function addStacks(
  app: App,
  functionCode: FunctionCode,
  stages: readonly Stage[] = deployedStages,
  settings: AccountSettings = { repository: githubRepository, budget },
): void {
  const off = (name: string) => app.node.tryGetContext(name) === "off";
  const accounts = new Map<string | undefined, AccountStack>();
  for (const { region } of stages) {
    if (accounts.has(region)) continue;
    const [first] = accounts.values();
    const { repository } = settings;
    const own = first ? { repository: repository && { ...repository, oidcProviderExists: true } } : settings;
    const id = first ? `${accountStackName}-${region ?? "default"}` : accountStackName;
    const inRegion = stages.filter((stage) => stage.region === region);
    const account = new AccountStack(app, id, inRegion, { ...own, region });
    if (first) account.addStackDependency(first);
    accounts.set(region, account);
  }
  const personal = app.node.tryGetContext("stage");
  for (const stage of personal === undefined ? stages : [...stages, personalStage(personal)]) {
    const stack = new AnimalStoreStack(
      app,
      stackName(stage.name),
      { ...stage, deletionProtection: stage.deletionProtection && !off("deletionProtection") },
      { functionCode, ignoreCanaryAlarms: off("canaryAlarms") },
    );
    // A stage cannot write its access log before API Gateway has the account's role.
    const account = accounts.get(stage.region);
    if (account) stack.addStackDependency(account);
  }
}
