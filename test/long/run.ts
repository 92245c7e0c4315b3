import { globSync } from "node:fs";
import { Command } from "commander";

/** `npm run test:long -- <name>`: the tests that are too long for `npm test`. Each folder has one, in its run.ts. */

const program = new Command("npm run test:long --")
  .description("Tests that are too long for npm test. Each starts what it needs on this machine.")
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

for (const file of globSync("*/run.ts", { cwd: import.meta.dirname }).sort()) {
  const { command }: { command: Command } = await import(`./${file}`);
  program.addCommand(command.copyInheritedSettings(program));
}

await program.parseAsync();
// Some clients and tools keep connections open.
process.exit();
