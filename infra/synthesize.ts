import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const app = fileURLToPath(new URL("app.ts", import.meta.url));

/**
 * Runs the CDK app as the `cdk` command does. The app writes the templates and bundles the functions.
 *
 * @param folder an empty folder for the result
 * @param options.signal stops the app
 * @param options.context what `cdk --context` would set
 * @param options.validate checks the templates, as `cdk deploy` does
 * @throws Error with the app's own output when it fails
 */
export async function synthesize(
  folder: string,
  {
    signal,
    context = {},
    validate = false,
  }: { signal?: AbortSignal; context?: Record<string, string>; validate?: boolean } = {},
): Promise<void> {
  const child = spawn(process.execPath, [app], {
    env: {
      ...process.env,
      FORCE_COLOR: undefined, // the output is for withoutInternals
      CDK_OUTDIR: folder,
      CDK_DEFAULT_ACCOUNT: undefined, // all stages
      ...(!validate && { CDK_VALIDATION: "false" }),
      CDK_CONTEXT_JSON: JSON.stringify(context),
    },
    stdio: ["ignore", "pipe", "pipe"],
    ...(signal && { signal }),
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  const status = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  if (status !== 0) throw new Error(`The CDK app failed:\n${withoutInternals(output)}`);
}

/** Removes what does not lead to the mistake: the code and stack frames of Node and of packages. */
function withoutInternals(output: string): string {
  return output
    .replaceAll(/^(Node\.js v.*| +at .*(node:|node_modules).*)\n/gm, "")
    .replaceAll(/^.*(node:internal|node_modules)\/.*:\d+\n.*\n[ ^]+\n+/gm, "")
    .trim();
}
