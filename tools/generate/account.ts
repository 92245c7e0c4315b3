import { App } from "aws-cdk-lib";
import type { AccountSettings } from "../../infra/account-settings.ts";
import { AccountStack } from "../../infra/account-stack.ts";
import { accountStackName } from "../../infra/names.ts";
import { featureFlags } from "../../infra/stacks.ts";
import { deployedStages } from "../../infra/stages.ts";

/**
 * Synthesizes the account stack with other settings than those of infra/.
 *
 * @param outdir an empty folder for the assembly
 */
export function synthesizeAccount(settings: AccountSettings, outdir: string): void {
  const app = new App({ context: featureFlags, outdir });
  new AccountStack(app, accountStackName, deployedStages, settings);
  app.synth();
}
