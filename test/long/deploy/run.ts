import { Command } from "commander";

const description = `Bootstraps and deploys the stacks with the real cdk to an emulator of AWS on this machine, and tests them there over HTTP and with the operators' command. Needs Python 3 and access to PyPI.`;

export const command = new Command("deploy")
  .summary("deploys the stacks with the real cdk to an AWS emulator and tests them (needs Python and PyPI)")
  .description(description)
  .action(async () => (await import("./deployment.ts")).testDeployment());
