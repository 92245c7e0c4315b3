import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { AccountStack } from "../../infra/account-stack.ts";
import type { Budget } from "../../infra/budget.ts";
import type { GitHubRepository } from "../../infra/github-repository.ts";
import { featureFlags } from "../../infra/stacks.ts";
import { accountStackName, deployedStages } from "../../infra/stages.ts";

/** A repository as someone who deploys from GitHub would fill it in. */
export const exampleRepository: GitHubRepository = {
  owner: "acme",
  name: "animal-store",
  ownerId: 1234567,
  id: 7654321,
  oidcProviderExists: false,
};

/** What infra/ leaves undefined, as someone would fill it in. */
export const exampleSettings = {
  repository: exampleRepository,
  budget: { monthlyUsd: 50, email: "ops@example.com" } satisfies Budget,
};

/**
 * Synthesizes the account stack with other settings than those of infra/.
 *
 * @param outdir an empty folder for the assembly
 */
export function synthesizeAccount(settings: Partial<typeof exampleSettings>, outdir: string): void {
  const app = new App({ context: featureFlags, outdir });
  new AccountStack(app, accountStackName, deployedStages, settings);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
}
