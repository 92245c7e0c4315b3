import { App } from "aws-cdk-lib";
import type { GitHubRepository, MonthlyBudget } from "../../infra/account-settings.ts";
import { AccountStack } from "../../infra/account-stack.ts";
import { accountStackName } from "../../infra/names.ts";
import { featureFlags } from "../../infra/stacks.ts";
import { deployedStages } from "../../infra/stages.ts";

/** A repository as someone who deploys from GitHub would fill it in. */
export const exampleRepository: GitHubRepository = {
  owner: "acme",
  name: "animal-store",
  ownerId: 1234567,
  id: 7654321,
  accounts: Object.fromEntries(deployedStages.map(({ name }, n) => [name, String(n + 1).repeat(12)])),
};

/** What infra/ leaves undefined, as someone would fill it in. */
export const exampleSettings = {
  repository: exampleRepository,
  budget: { monthlyUsd: 50, email: "ops@example.com" } satisfies MonthlyBudget,
};

/**
 * Synthesizes the account stack with other settings than those of infra/.
 *
 * @param outdir an empty folder for the assembly
 */
export function synthesizeAccount(settings: Partial<typeof exampleSettings>, outdir: string): void {
  const app = new App({ context: featureFlags, outdir });
  new AccountStack(app, accountStackName, deployedStages, settings);
  app.synth();
}
