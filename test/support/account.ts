import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { AccountStack } from "../../infra/account-stack.ts";
import { featureFlags } from "../../infra/stacks.ts";
import { accountStackName, deployedStages } from "../../infra/stages.ts";
import type { exampleSettings } from "./every-option.ts";

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
