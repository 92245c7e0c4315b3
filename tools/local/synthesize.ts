import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const app = fileURLToPath(new URL("../../infra/app.ts", import.meta.url));
const home = fileURLToPath(new URL("../../node_modules/.cache/home", import.meta.url));

/**
 * Runs the CDK app as the `cdk` command does, for all stages. The app writes the templates and bundles the functions. Unless
 * CDK_VALIDATION is set, nothing checks the templates.
 *
 * @param folder an empty folder for the result
 * @throws Error with the app's own output when it fails
 */
export async function synthesize(folder: string): Promise<void> {
  const own = { HOME: home, CDK_OUTDIR: folder, CDK_DEFAULT_ACCOUNT: undefined }; // the CDK keeps hashes of assets in HOME
  const env = { CDK_VALIDATION: "false", ...process.env, ...own };
  await promisify(execFile)(process.execPath, [app], { env }).catch(({ stdout, stderr }) => {
    throw new Error(`The CDK app failed:\n${(stdout + stderr).trim()}`);
  });
}
