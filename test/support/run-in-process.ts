import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
 * @param target replaces its standard output, a new file
 */
export async function capture<T>(
  run: () => Promise<T>,
  environment: Record<string, string> = {},
  target?: { fd: number },
) {
  const output = { stdout: "", stderr: "" };
  const append = (stream: "stdout" | "stderr") => (text: unknown) => {
    output[stream] += `${text}\n`;
  };
  const log = jest.spyOn(console, "log").mockImplementation(append("stdout"));
  const error = jest.spyOn(console, "error").mockImplementation(append("stderr"));
  const file = join(tmpdir(), `stdout-${crypto.randomUUID()}`);
  const fd = openSync(file, "w");
  const stdout = jest.spyOn(process, "stdout", "get").mockReturnValue((target ?? { fd }) as never);
  const { env } = process;
  process.env = { HOME: "/nonexistent", AWS_EC2_METADATA_DISABLED: "true", ...environment };
  process.stdin.isTTY = false;
  try {
    const result = await run();
    output.stdout += readFileSync(file, "utf8");
    return { result, ...output };
  } finally {
    closeSync(fd);
    rmSync(file);
    stdout.mockRestore();
    process.env = env;
    log.mockRestore();
    error.mockRestore();
  }
}
