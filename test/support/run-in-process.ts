import { jest } from "@jest/globals";
import type { Command } from "commander";
import { runProgram } from "../../cli/run-program.ts";
import type { Run } from "./keys-cli.ts";

let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs a command line program in this process and without a terminal, which is much faster than a process of its own.
 * A second call waits until the first one ends.
 *
 * @param environment the only AWS configuration that the program gets
 */
export function runInProcess(
  program: Command,
  label: string,
  args: string[],
  environment: Record<string, string> = {},
): Promise<Run> {
  const running = previous.then(() => run(program, label, args, environment));
  previous = running.catch(() => undefined);
  return running;
}

async function run(
  program: Command,
  label: string,
  args: string[],
  environment: Record<string, string>,
): Promise<Run> {
  const result: Run = { code: 0, stdout: "", stderr: "" };
  const printLine = (stream: "stdout" | "stderr") => (text: unknown) => {
    result[stream] += `${text}\n`;
  };
  const write = (stream: "stdout" | "stderr") => (text: unknown) => {
    result[stream] += text;
    return true;
  };
  const spies = [
    jest.spyOn(console, "log").mockImplementation(printLine("stdout")),
    jest.spyOn(console, "error").mockImplementation(printLine("stderr")),
    jest.spyOn(process.stdout, "write").mockImplementation(write("stdout")),
    jest.spyOn(process.stderr, "write").mockImplementation(write("stderr")),
  ];
  const { isTTY } = process.stdin;
  const saved = { ...process.env };
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
  Object.assign(process.env, { HOME: "/nonexistent", AWS_EC2_METADATA_DISABLED: "true", ...environment });
  process.stdin.isTTY = false;
  try {
    result.code = await runProgram(program, label, args);
  } finally {
    process.stdin.isTTY = isTTY;
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, saved);
    for (const spy of spies) spy.mockRestore();
  }
  return result;
}
