import type { Command } from "commander";
import { ApiError } from "../lib/errors.ts";

/** Masks every text that looks like an API key, because a key must not appear in a terminal or in a build log. */
export const hideKeys = (text: string) => text.replace(/ask_[a-z]+_\w+/gi, "ask_***");

/** Describes an error in one line. It includes the cause, which clients of the API do not see but operators need. */
function explain(error: unknown): string {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (error instanceof ApiError && error.cause)
    return `The keys table cannot be used: ${explain(error.cause)}`;
  return message || code || name;
}

/**
 * Configures how a command line program reports errors. Call it before you add subcommands, which inherit it.
 *
 * @param program its name is what the user types
 */
export function configureProgram(program: Command): Command {
  return program
    .showHelpAfterError("(Add --help for usage.)")
    .configureOutput({ writeErr: (text) => process.stderr.write(hideKeys(text)) })
    .exitOverride((error) => {
      // Without `--`, npm reads the options itself and passes them on as environment variables.
      if (error.exitCode !== 0 && process.env.npm_config_stage !== undefined) {
        console.error(
          "npm read the options itself. Put -- before them: npm run keys -- <command> --stage ...",
        );
      }
      process.exit(error.exitCode === 0 ? 0 : 2);
    });
}

/**
 * Runs a program with the arguments of this process. Exit codes: 0 success, 1 failure, 2 wrong usage.
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
