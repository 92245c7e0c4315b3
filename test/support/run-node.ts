import { type ExecFileOptions, execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("../../tools/cli/keys.ts", import.meta.url));

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a script in a process of its own, without a terminal. */
export function runNode(args: string[], options: ExecFileOptions): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout: String(stdout), stderr: String(stderr) }),
    );
    child.stdin?.end();
  });
}

/** Runs `npm run keys`. It has only the AWS credentials of `environment`. */
export function keysCli(args: string[], environment: Record<string, string>): Promise<Run> {
  const { PATH } = process.env;
  const env = { PATH, HOME: "/nonexistent", AWS_EC2_METADATA_DISABLED: "true", ...environment };
  return runNode([entry, ...args], { env });
}
