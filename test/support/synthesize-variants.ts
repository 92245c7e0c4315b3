import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { addStacks, featureFlags } from "../../infra/stacks.ts";
import { bare, filledIn, filledInOfProduction } from "./stages.ts";

// Synthesizes the variants of stages.ts. This runs in a process of its own: Jest loads the CDK slowly and keeps it in memory.

function synthesize({ settings, assembly }: typeof bare, context = {}, credentialsOf = ""): void {
  const app = new App({ context: { ...featureFlags, ...context }, outdir: assembly });
  addStacks(app, () => import.meta.dirname, settings, credentialsOf); // any folder, in place of the code
  if (!credentialsOf) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
}

synthesize(bare);
synthesize(filledIn, { deletionProtection: "off" });
synthesize(filledInOfProduction, {}, filledIn.settings.githubRepository.accounts.production);
