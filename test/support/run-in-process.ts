import { jest } from "@jest/globals";
import type { Command } from "commander";
import { runProgram } from "../../cli/run-program.ts";
import type { Run } from "./keys-cli.ts";

/**
 * Runs a command line program in this process and without a terminal, which is much faster than a process of its own.
 *
 * @param environment all environment variables that the program gets
 */
export async function runInProcess(
  program: Command,
  label: string,
  args: string[],
  environment?: Record<string, string>,
): Promise<Run> {
  const { result, ...output } = await capture(() => runProgram(program, label, args), environment);
  return { code: result, ...output };
}

/**
 * Returns what a function prints, and its result. Only one can run at a time.
 *
 * @param environment all environment variables that it gets
 */
export async function capture<T>(run: () => Promise<T>, environment: Record<string, string> = {}) {
  const output = { stdout: "", stderr: "" };
  const append = (stream: "stdout" | "stderr") => (text: unknown) => {
    output[stream] += `${text}\n`;
  };
  const log = jest.spyOn(console, "log").mockImplementation(append("stdout"));
  const error = jest.spyOn(console, "error").mockImplementation(append("stderr"));
  const { env } = process;
  process.env = { HOME: "/nonexistent", AWS_EC2_METADATA_DISABLED: "true", ...environment };
  process.stdin.isTTY = false;
  try {
    return { result: await run(), ...output };
  } finally {
    process.env = env;
    log.mockRestore();
    error.mockRestore();
  }
}
