import { App } from "aws-cdk-lib";
import { AccountStack } from "../../infra/account-stack.ts";
import { accountStackName } from "../../infra/names.ts";
import { featureFlags } from "../../infra/stacks.ts";
import { deployedStages } from "../../infra/stages.ts";
import type { exampleSettings } from "./every-option.ts";

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
