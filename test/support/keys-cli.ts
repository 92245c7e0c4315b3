import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("../../cli/keys.ts", import.meta.url));

/** The result of `npm run keys -- ...`. */
export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command as npm does, without a terminal. It has only the AWS credentials of `environment`. */
export function keysCli(args: string[], environment: Record<string, string> = {}): Promise<Run> {
  const env = {
    PATH: process.env.PATH,
    HOME: "/nonexistent",
    AWS_EC2_METADATA_DISABLED: "true",
    ...environment,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [entry, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

/**
 * Runs a command that must succeed.
 *
 * @returns the JSON that it printed
 * @throws Error with its output if it fails
 */
// biome-ignore lint/suspicious/noExplicitAny: each command prints another shape
export async function keysJson(args: string[], environment: Record<string, string> = {}): Promise<any> {
  const { code, stdout, stderr } = await keysCli([...args, "--json"], environment);
  if (code !== 0 || stderr !== "") throw new Error(`keys ${args[0]} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
