import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import { configureProgram } from "../../tools/cli/run-program.ts";

/** `npm run test:long -- <name>`: the tests that are too long for `npm test`. Each imports what it needs when it runs. */

const program = configureProgram(new Command("npm run test:long --"))
  .description("Tests that are too long for npm test. Each starts what it needs on this machine.")
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

program
  .command("deploy")
  .description("deploys with the real cdk to MiniStack and tests the stages (needs Python and PyPI)")
  .action(async () => (await import("./deploy/deployment.ts")).testDeployment());

program
  .command("docs-page")
  .description("uses the docs page in Chromium; checks its accessibility (needs npm)")
  .addOption(new Option("--browser <path>", "of Chromium").env("CHROMIUM").default("/usr/bin/chromium"))
  .option("--picture", "write a new docs/docs-page.png", false)
  .action(async (options, command) => {
    if (!existsSync(options.browser))
      command.error(`error: there is no browser ${options.browser}: set CHROMIUM or --browser to Chromium`);
    await (await import("./docs-page/docs-page.ts")).testDocsPage(options);
  });

program
  .command("runtime")
  .description(
    "runs the bundles under AWS's own Node.js runtime (needs npm, Python 3, CMake and a C++ compiler)",
  )
  .action(async () => (await import("./runtime/runtime.ts")).testRuntime());

await program.parseAsync();
// Some clients and tools keep connections open.
process.exit();
