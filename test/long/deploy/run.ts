import { Command } from "commander";

export const command = new Command("deploy")
  .summary("deploys the stacks with the real cdk to an AWS emulator and tests them (needs Python and PyPI)")
  .description(
    [
      "Bootstraps and deploys the stacks with the real cdk to an emulator of AWS on this machine.",
      "Tests them there over HTTP and with the operators' command. Needs Python 3 and access to PyPI.",
    ].join("\n"),
  )
  .action(async () => (await import("./deployment.ts")).testDeployment());
