import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const app = fileURLToPath(new URL("app.ts", import.meta.url));
const home = fileURLToPath(new URL("../node_modules/.cache/home", import.meta.url));

/**
 * Runs the CDK app as the `cdk` command does. The app writes the templates and bundles the functions.
 *
 * @param folder an empty folder for the result
 * @param options.context what `cdk --context` would set
 * @param options.validate checks the templates, as `cdk deploy` does
 * @throws Error with the app's own output when it fails
 */
export async function synthesize(
  folder: string,
  { context = {}, validate = false }: { context?: Record<string, string>; validate?: boolean } = {},
): Promise<void> {
  const child = spawn(process.execPath, [app], {
    env: {
      ...process.env,
      HOME: home, // the CDK keeps hashes of assets there
      CDK_OUTDIR: folder,
      CDK_DEFAULT_ACCOUNT: undefined, // all stages
      ...(!validate && { CDK_VALIDATION: "false" }),
      CDK_CONTEXT_JSON: JSON.stringify(context),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  const status = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  if (status !== 0) throw new Error(`The CDK app failed:\n${output.trim()}`);
}
