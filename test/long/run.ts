import { existsSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { configureProgram } from "../../tools/cli/run-program.ts";

/** `npm run test:long -- <name>`: the tests that are too long for `npm test`. Each imports what it needs when it runs. */

/** Returns a parser of an option's value. It refuses what is not a whole number from `min` on. */
const wholeNumber = (min: number) => (text: string) => {
  if (!/^\d{1,15}$/.test(text) || Number(text) < min)
    throw new InvalidArgumentError(`Use a whole number from ${min} on.`);
  return Number(text);
};

const program = configureProgram(new Command("npm run test:long --"))
  .description("Tests that are too long for npm test. Each starts what it needs on this machine.")
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

program
  .command("deploy")
  .description("deploys with the real cdk to MiniStack and tests the stages (needs Python and PyPI)")
  .action(async () => (await import("./deploy/deployment.ts")).testDeployment());

program
  .command("docs-page")
  .description("uses the docs page in Chromium; checks its accessibility and its picture (needs npm)")
  .addOption(new Option("--browser <path>", "of Chromium").env("CHROMIUM").default("/usr/bin/chromium"))
  .option("--picture", "write a new docs/docs-page.png", false)
  .action(async (options, command) => {
    if (!existsSync(options.browser))
      command.error(`error: there is no browser ${options.browser}: set CHROMIUM or --browser to Chromium`);
    await (await import("./docs-page/docs-page.ts")).testDocsPage(options);
  });

program
  .command("model")
  .description("compares random commands, with hostile requests among them, with a model of docs/contract.md")
  .option("--runs <number>", "sequences of commands; more if hostile requests are left", wholeNumber(1), 20)
  .option("--commands <number>", "the most commands of a sequence", wholeNumber(1), 50)
  .option("--hostile <number>", "the least number of hostile requests", wholeNumber(1), 100_000)
  .option("--seed <number>", "repeats a run", wholeNumber(0), Date.now() % 2 ** 31)
  .action(async (options) => (await import("./model/check.ts")).testModel(options));

program
  .command("runtime")
  .description(
    "runs the bundles under AWS's own Node.js runtime (needs npm, Python 3, CMake and a C++ compiler)",
  )
  .action(async () => (await import("./runtime/runtime.ts")).testRuntime());

await program.parseAsync();
// Some clients and tools keep connections open.
process.exit();
