import { createRequire } from "node:module";
import type { App } from "aws-cdk-lib";
import { type AccountSettings, accountSettings } from "./account-settings.ts";
import { AccountStack } from "./account-stack.ts";
import { AnimalStoreStack } from "./animal-store-stack.ts";
import type { CodeFolder } from "./function-set.ts";
import { accountStackName, DEPLOYED_BRANCH } from "./names.ts";
import { deployedStages, type Stage } from "./stages.ts";

/** The feature flags, so that every way to synthesize returns the same templates: the CDK library ignores cdk.json. */
export const featureFlags: Record<string, unknown> = createRequire(import.meta.url)("../cdk.json").context;

/**
 * Adds the stacks of the stages, and the stack of what they share. docs/deployment.md says when to use the context value
 * `-c deletionProtection=off`.
 *
 * @param settings what someone fills in for the account and the stages
 * @param credentialsOf the account of the credentials, as the `cdk` command knows it. A stage of another account is left
 *   out, so that wrong credentials do not create the stage a second time
 * @throws Error if the context value is another one
 */
export function addStacks(
  app: App,
  codeFolder: CodeFolder,
  settings: AccountSettings & { stages: readonly Stage[] } = { ...accountSettings, stages: deployedStages },
  credentialsOf = process.env.CDK_DEFAULT_ACCOUNT,
): void {
  const account = new AccountStack(app, accountStackName, settings.stages, settings);
  const protection: string | undefined = app.node.tryGetContext("deletionProtection");
  if (protection !== undefined && protection !== "off")
    throw new Error("Use -c deletionProtection=off, or leave it out.");
  const { owner, name } = settings.githubRepository ?? {};
  const runbook = owner && `https://github.com/${owner}/${name}/blob/${DEPLOYED_BRANCH}/docs/incidents.md`;
  for (const stage of settings.stages) {
    const own = settings.githubRepository?.accounts[stage.name] ?? credentialsOf;
    if (credentialsOf && own !== credentialsOf) continue;
    const deletionProtection = stage.deletionProtection && protection !== "off";
    const stack = new AnimalStoreStack(app, { ...stage, deletionProtection }, codeFolder, runbook);
    // A stage cannot write its access log before API Gateway has the account's role.
    stack.addStackDependency(account);
  }
}
