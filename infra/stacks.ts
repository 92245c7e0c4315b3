import { createRequire } from "node:module";
import type { App } from "aws-cdk-lib";
import { type AccountSettings, budget, githubRepository } from "./account-settings.ts";
import { AccountStack } from "./account-stack.ts";
import { AnimalStoreStack } from "./animal-store-stack.ts";
import type { CodeFolder } from "./function-set.ts";
import { accountStackName } from "./names.ts";
import { deployedStages, personalStage, type Stage, UsageError } from "./stages.ts";

/** The feature flags, so that every way to synthesize returns the same templates: only the `cdk` command reads cdk.json. */
export const featureFlags: Record<string, unknown> = createRequire(import.meta.url)("../cdk.json").context;

/** What `-c` can set. */
const CONTEXT_VALUES = ["deletionProtection", "canaryAlarms", "stage", "like"];

/**
 * Adds the stacks of the stages, and the stack of what they share. docs/deployment.md and docs/incidents.md say when to use
 * the context values `-c deletionProtection=off`, `-c canaryAlarms=off`, `-c stage=<name>`, which adds a personal stage, and
 * `-c like=<name>`.
 *
 * @param settings what someone fills in for the account
 * @param credentialsOf the account of the credentials, as the `cdk` command knows it. A stage of another account is left
 *   out, so that wrong credentials do not create the stage a second time
 * @throws UsageError if one of these context values is wrong. Others can be of the user's ~/.cdk.json: a line warns of them
 */
export function addStacks(
  app: App,
  codeFolder: CodeFolder,
  settings: AccountSettings = { repository: githubRepository, budget },
  credentialsOf = process.env.CDK_DEFAULT_ACCOUNT,
): void {
  // Others are of the CDK and have a sign in their names, such as `aws:cdk:bundling-stacks`.
  for (const name of Object.keys(app.node.getAllContext()))
    if (/^\w+$/.test(name) && !CONTEXT_VALUES.includes(name))
      console.error(
        `Warning: the context value ${name} of -c, cdk.json, cdk.context.json or ~/.cdk.json has no effect: use ${CONTEXT_VALUES.join(", ")}.`,
      );
  const account = new AccountStack(app, accountStackName, deployedStages, settings);
  const [personal, like]: (string | undefined)[] = ["stage", "like"].map((name) =>
    app.node.tryGetContext(name),
  );
  if (like !== undefined && personal === undefined)
    throw new UsageError("Use -c like=<name> with -c stage=<name>.");
  const { owner, name } = settings.repository ?? {};
  const runbook = owner && `https://github.com/${owner}/${name}/blob/main/docs/incidents.md`;
  const stages = personal === undefined ? deployedStages : [...deployedStages, personalStage(personal, like)];
  for (const stage of stages) {
    const own = settings.repository?.accounts[stage.name] ?? credentialsOf;
    if (credentialsOf && own !== credentialsOf) continue;
    const stack = new AnimalStoreStack(app, resolveStage(app, stage), codeFolder, runbook);
    // A stage cannot write its access log before API Gateway has the account's role.
    stack.addStackDependency(account);
  }
}

/** Returns a stage with what the context changes for one deployment. */
function resolveStage({ node }: App, stage: Stage): Stage {
  const off = (name: string) => {
    const value = node.tryGetContext(name);
    if (value !== undefined && value !== "off") throw new UsageError(`Use -c ${name}=off, or leave it out.`);
    return value === "off";
  };
  return {
    ...stage,
    deletionProtection: stage.deletionProtection && !off("deletionProtection"),
    ignoreCanaryAlarms: stage.ignoreCanaryAlarms || off("canaryAlarms"),
  };
}
