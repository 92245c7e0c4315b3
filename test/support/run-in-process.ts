import { jest } from "@jest/globals";
import type { Command } from "commander";
import { runProgram } from "../../cli/run-program.ts";
import type { Run } from "./keys-cli.ts";

/**
 * Runs a command line program in this process and without a terminal, which is much faster than a process of its own.
 * Only one can run at a time.
 *
 * @param environment all environment variables that the program gets
 */
export async function runInProcess(
  program: Command,
  label: string,
  args: string[],
  environment: Record<string, string> = {},
): Promise<Run> {
  const result: Run = { code: 0, stdout: "", stderr: "" };
  const append = (stream: "stdout" | "stderr") => (text: unknown) => {
    result[stream] += `${text}\n`;
  };
  const log = jest.spyOn(console, "log").mockImplementation(append("stdout"));
  const error = jest.spyOn(console, "error").mockImplementation(append("stderr"));
  const { env } = process;
  process.env = { HOME: "/nonexistent", AWS_EC2_METADATA_DISABLED: "true", ...environment };
  process.stdin.isTTY = false;
  try {
    result.code = await runProgram(program, label, args);
  } finally {
    process.env = env;
    log.mockRestore();
    error.mockRestore();
  }
  return result;
}
