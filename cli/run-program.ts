import { Console } from "node:console";
import { type Command, CommanderError } from "commander";
import { maskApiKeys } from "../lib/api-key.ts";
import { ApiError } from "../lib/errors.ts";

/** What a program reads and writes: `process`, or what a test makes. */
export type World = Pick<NodeJS.Process, "argv" | "env" | "stdout" | "stderr">;

/** Writes lines to standard error, without what looks like an API key: it must not appear in a terminal or in a build log. */
export const printError = ({ stderr }: World, text: string) => new Console(stderr).error(maskApiKeys(text));

/** Describes an error in one line. It includes the cause, which clients of the API do not see but operators need. */
function explain(error: unknown): string {
  const { name, message, code, cause } = error as NodeJS.ErrnoException;
  const text = error instanceof ApiError && cause ? "The table cannot be used" : message || code || name;
  return (cause ? `${text}: ${explain(cause)}` : `${text}`).replaceAll(/\s*\n\s*/g, " ");
}

/**
 * Configures how a command line program reports errors. Call it before you add subcommands, which inherit it.
 *
 * @param program its name is what the user types
 */
export function configureProgram(program: Command, world: World): Command {
  return program
    .showHelpAfterError("(Add --help for usage.)")
    .configureOutput({
      writeOut: (text) => new Console(world.stdout).log(text.trimEnd()),
      writeErr: (text) => printError(world, text.trimEnd()),
    })
    .exitOverride();
}

/** Returns the API key in API_KEY. It is no option, because npm prints those. @throws CommanderError if there is none */
export const requireApiKey = ({ env }: World, command: Command): string =>
  env.API_KEY || command.error("error: Set API_KEY to an API key with both scopes.");

/**
 * Runs a program, and reports an error on standard error.
 *
 * @param program of the same world, as configureProgram returned it
 * @param label starts the line that reports a failure
 * @returns the exit code: 0 success, 1 failure, 2 wrong usage
 */
export async function runProgram(program: Command, label: string, world: World): Promise<number> {
  try {
    await program.parseAsync(world.argv);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    printError(world, `${label}: ${explain(error)}`);
    return 1;
  }
}
