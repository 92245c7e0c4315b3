import { mkdtempDisposableSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { runProgram, type World } from "../../cli/run-program.ts";
import type { Run } from "./keys-cli.ts";

/**
 * Runs a command line program in this process and without a terminal, which is much faster than a process of its own. Only one
 * can run at a time.
 *
 * @param program makes the program for its world
 * @param environment all environment variables that it gets
 * @param target takes its standard output, which is else returned
 */
export async function runHere(
  program: (world: World) => Command,
  label: string,
  args: string[],
  environment: Record<string, string> = {},
  target?: { fd: number },
): Promise<Run> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "animal-store-run-"));
  const file = join(folder.path, "stdout");
  await using printed = await open(file, "w");
  const stdout = Object.assign(new PassThrough(), { fd: (target ?? printed).fd });
  const stderr = new PassThrough();
  const env = { HOME: "/nonexistent", AWS_EC2_METADATA_DISABLED: "true", ...environment };
  const world = { argv: ["", "", ...args], env, stdin: {}, stdout, stderr } as unknown as World;
  const { env: own } = process;
  // Only what the AWS SDK reads itself.
  process.env = Object.fromEntries(Object.entries(env).filter(([name]) => /^(AWS_|HOME$)/.test(name)));
  const code = await runProgram(program(world), label, world).finally(() => {
    process.env = own;
  });
  return { code, stdout: `${readFileSync(file)}${stdout.read() ?? ""}`, stderr: `${stderr.read() ?? ""}` };
}

export const failure = (message: string): Run => ({ code: 1, stdout: "", stderr: `keys: ${message}\n` });
