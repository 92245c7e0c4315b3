import { join } from "node:path";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { addStacks, featureFlags } from "../../infra/stacks.ts";
import { filledIn } from "./stages.ts";

// Synthesizes what an owner can fill in, and what the procedures use once. Argument: an empty folder. This runs in a process
// of its own: Jest loads the CDK slowly and keeps it in memory.

const [, , outdir = ""] = process.argv;
const codeFolder = () => import.meta.dirname; // any
const app = new App({ context: { ...featureFlags, deletionProtection: "off" }, outdir });
addStacks(app, codeFolder, filledIn);
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
app.synth();
const ofProduction = new App({ context: featureFlags, outdir: join(outdir, "of-production") });
addStacks(ofProduction, codeFolder, filledIn, filledIn.githubRepository.accounts.production);
ofProduction.synth();
