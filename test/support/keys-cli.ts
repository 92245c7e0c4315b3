import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("../../cli/keys.ts", import.meta.url));

/** What a run of `npm run keys -- ...` did. */
export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the operators' command as npm does; no terminal, no AWS credentials but those given. */
export function keysCli(args: string[], environment: Record<string, string> = {}): Promise<Run> {
  const env = {
    PATH: process.env.PATH ?? "",
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
