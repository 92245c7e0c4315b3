import type { Command } from "commander";
import { ApiError } from "../lib/errors.ts";

/** Replaces every text that looks like an API key: a key must never reach a terminal's history or a build's log. */
export const hideKeys = (text: string) => text.replace(/ask_[a-z]+_\w+/gi, "ask_***");

/** One line about what went wrong. A store hides the reason from clients of the API; an operator needs it. */
function explain(error: unknown): string {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (error instanceof ApiError && error.cause)
    return `The keys table cannot be used: ${explain(error.cause)}`;
  return message || code || name;
}

/**
 * Sets up how a command line program reports errors. Call it before adding subcommands, which inherit it.
 *
 * @param program its name is what the user types
 */
export function configureProgram(program: Command): Command {
  return program
    .showHelpAfterError("(Add --help for usage.)")
    .configureOutput({ writeErr: (text) => process.stderr.write(hideKeys(text)) })
    .exitOverride((error) => {
      // npm takes an option for its own when no `--` comes first, and passes it on as an environment variable.
      if (error.exitCode !== 0 && process.env.npm_config_stage !== undefined) {
        console.error(
          "npm read the options itself. Put -- before them: npm run keys -- <command> --stage ...",
        );
      }
      process.exit(error.exitCode === 0 ? 0 : 2);
    });
}

/**
 * Runs a program with the arguments of this process. Exit codes: 0 done, 1 failed, 2 wrong usage.
 *
 * @param program as configureProgram returned it
 * @param label starts the line that reports a failure
 */
export async function runProgram(program: Command, label: string): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    console.error(hideKeys(`${label}: ${explain(error)}`));
    process.exitCode = 1;
  }
}
