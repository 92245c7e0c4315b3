import { writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { type Command, CommanderError } from "commander";
import { ApiError } from "../lib/errors.ts";
import { escapeLines } from "./escape-controls.ts";

/**
 * Makes a text safe to print: it also masks what looks like an API key, because a key must not appear in a terminal or
 * in a build log.
 */
const printable = (text: string) => escapeLines(text.replace(/ask_[a-z]+_\w+/gi, "ask_***"));

/** Describes an error in one line. It includes the cause, which clients of the API do not see but operators need. */
function explain(error: unknown): string {
  const { name, message, code, cause } = error as NodeJS.ErrnoException;
  if (typeof message === "string" && /^Region is missing$|region=""/.test(message))
    return "No AWS region is set: set AWS_REGION, or a region in your AWS profile.";
  if (name === "CredentialsProviderError")
    return `There are no AWS credentials (${message}): sign in (for example \`aws sso login\`), or check AWS_PROFILE.`;
  // A server that is not DynamoDB can send any JSON as the message.
  const own = [message, code, name].find((text) => typeof text === "string" && text !== "");
  const text = error instanceof ApiError && cause ? "The keys table cannot be used" : String(own);
  return (cause ? `${text}: ${explain(cause)}` : text).replaceAll(/\s*\n\s*/g, " ");
}

/**
 * Writes a text and a line break to standard output, to the last byte.
 *
 * @throws Error such as EPIPE, which `console.log` ignores, or ENOSPC, which `process.stdout` can ignore after a part
 */
export async function print(text: string): Promise<void> {
  for (let rest = Buffer.from(`${text}\n`); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(process.stdout.fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      // The import of commander makes a pipe non-blocking. Its reader goes on later.
      await setTimeout(10);
    }
  }
}

/**
 * Configures how a command line program reports errors. Call it before you add subcommands, which inherit it.
 *
 * @param program its name is what the user types
 */
export function configureProgram(program: Command): Command {
  return program
    .showHelpAfterError("(Add --help for usage.)")
    .configureOutput({
      writeOut: (text) => console.log(text.trimEnd()),
      writeErr: (text) => console.error(printable(text.trimEnd())),
    })
    .exitOverride();
}

/** Returns the API key in API_KEY. It is no option, because npm prints those. @throws CommanderError if there is none */
export const requireApiKey = (command: Command): string =>
  process.env.API_KEY || command.error("error: Set API_KEY to an API key with both scopes.");

/**
 * Runs a program, and reports an error on standard error.
 *
 * @param program as configureProgram returned it
 * @param label starts the line that reports a failure
 * @returns the exit code: 0 success, 1 failure, 2 wrong usage
 */
export async function runProgram(
  program: Command,
  label: string,
  args = process.argv.slice(2),
): Promise<number> {
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      console.error(printable(`${label}: ${explain(error)}`));
      return 1;
    }
    if (error.exitCode === 0) return 0;
    // Without `--`, npm reads the options itself and passes them on as environment variables.
    if (process.env.npm_config_stage !== undefined)
      console.error("npm read the options itself. Put -- before them: npm run keys -- <command> --stage ...");
    return 2;
  }
}
