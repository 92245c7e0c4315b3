import { Console } from "node:console";
import { writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { type Command, CommanderError } from "commander";
import { maskApiKeys } from "../lib/api-key.ts";
import { ApiError } from "../lib/errors.ts";
import { escapeLines } from "./escape-controls.ts";

/** What a program reads and writes: `process`, or what a test makes. Only the AWS SDK reads `process.env` by itself. */
export type World = Pick<NodeJS.Process, "argv" | "env" | "stdin" | "stdout" | "stderr">;

/**
 * Makes a text safe to print: it also masks what looks like an API key, because a key must not appear in a terminal or
 * in a build log.
 */
const printable = (text: string) => escapeLines(maskApiKeys(text));

/** Describes an error in one line. It includes the cause, which clients of the API do not see but operators need. */
function explain(error: unknown): string {
  const { name, message, code, cause } = error as NodeJS.ErrnoException;
  if (typeof message === "string" && /^Region is missing$|region=""/.test(message))
    return "No AWS region is set: set AWS_REGION, or a region in your AWS profile.";
  if (name === "CredentialsProviderError")
    return `There are no AWS credentials (${message}): sign in (for example \`aws sso login\`), or check AWS_PROFILE.`;
  // A server that is not DynamoDB can send any JSON as the message.
  const own = [message, code, name].find((text) => typeof text === "string" && text !== "");
  const text = error instanceof ApiError && cause ? "The table cannot be used" : String(own);
  return (cause ? `${text}: ${explain(cause)}` : text).replaceAll(/\s*\n\s*/g, " ");
}

/**
 * Writes a text and a line break to standard output, to the last byte.
 *
 * @throws Error such as EPIPE, which `console.log` ignores, or ENOSPC, which `process.stdout` can ignore after a part
 */
export async function print({ stdout }: World, text: string): Promise<void> {
  for (let rest = Buffer.from(`${text}\n`); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(stdout.fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      // The import of commander makes a pipe non-blocking. Its reader goes on later.
      await setTimeout(10);
    }
  }
}

/** Writes lines to standard error. */
export const printError = ({ stderr }: World, text: string) => new Console(stderr).error(text);

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
      writeErr: (text) => printError(world, printable(text.trimEnd())),
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
    if (!(error instanceof CommanderError)) {
      printError(world, printable(`${label}: ${explain(error)}`));
      return 1;
    }
    if (error.exitCode === 0) return 0;
    // Without `--`, npm reads the options itself and passes them on as environment variables.
    const advice = "npm read the options itself. Put -- before them: npm run keys -- <command> --stage ...";
    if (world.env.npm_config_stage !== undefined) printError(world, advice);
    return 2;
  }
}
