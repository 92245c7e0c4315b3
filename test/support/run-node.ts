import { type ExecFileOptions, execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("../../tools/cli/keys.ts", import.meta.url));

/** Runs a script in a process of its own, without a terminal. */
export function runNode(args: string[], options: ExecFileOptions) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout: String(stdout), stderr: String(stderr) }),
    );
    child.stdin?.end();
  });
}

/** Runs `npm run keys`. It has only the AWS credentials of `environment`. */
export function keysCli(args: string[], environment: Record<string, string>) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const own = { PATH, NODE_COMPILE_CACHE, HOME: "/nonexistent", AWS_EC2_METADATA_DISABLED: "true" };
  return runNode([entry, ...args], { env: { ...own, ...environment } });
}
