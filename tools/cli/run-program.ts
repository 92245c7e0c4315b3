import { type Command, CommanderError } from "commander";
import { maskApiKeys } from "../../lib/api-key.ts";
import { ApiError } from "../../lib/errors.ts";

/** Writes lines to standard error, without what looks like an API key: it must not appear in a terminal or in a build log. */
const printError = (text: string) => console.error(maskApiKeys(text));

/** Describes an error in one line. It includes the cause, which clients of the API do not see but operators need. */
function explain(error: unknown): string {
  const { name, message, code, cause } = error as NodeJS.ErrnoException;
  const text = error instanceof ApiError && cause ? "The table cannot be used" : message || code || name;
  return (cause ? `${text}: ${explain(cause)}` : `${text}`).replaceAll(/\s*\n\s*/g, " ");
}

/** Configures how a program reports errors. Call it before you add subcommands, which inherit it. */
export const configureProgram = (program: Command): Command =>
  program
    .showHelpAfterError("(Add --help for usage.)")
    .configureOutput({ writeErr: (text) => printError(text.trimEnd()) })
    .exitOverride();

/**
 * Runs a program that configureProgram returned, and sets the exit code: 0 success, 1 failure, 2 wrong usage.
 *
 * @param label starts the line that reports a failure
 */
export async function runProgram(program: Command, label: string): Promise<void> {
  const fail = (error: unknown) => {
    printError(`${label}: ${explain(error)}`);
    process.exitCode = 1;
  };
  process.stdout.on("error", fail); // a full disk, or a pipe whose reader has ended: nobody has what was printed
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode && 2;
    else fail(error);
  }
}
