import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { runProgram, type World } from "../../cli/run-program.ts";
import type { Run } from "./keys-cli.ts";

/**
 * Runs a command line program in this process, which is much faster than a process of its own.
 *
 * @param program makes the program for its world
 * @param env all environment variables that it gets
 */
export async function runHere(
  program: (world: World) => Command,
  label: string,
  args: string[],
  env: Record<string, string>,
): Promise<Run> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const world = { argv: ["", "", ...args], env, stdout, stderr } as unknown as World;
  const code = await runProgram(program(world), label, world);
  return { code, stdout: `${stdout.read() ?? ""}`, stderr: `${stderr.read() ?? ""}` };
}
