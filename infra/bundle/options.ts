import { fileURLToPath } from "node:url";
import { type BundlingOptions, OutputFormat, SourceMapMode } from "aws-cdk-lib/aws-lambda-nodejs";

const replacement = (name: string) => fileURLToPath(new URL(`${name}.ts`, import.meta.url));

/**
 * How the functions become one file each. Every choice is about cold start, which is mostly reading and
 * compiling JavaScript; docs/benchmarks.md measures the result. The figures are for getPet.
 */
export const bundling: BundlingOptions = {
  // `import` of a built-in module such as node:http costs about 20 ms that `require` does not.
  format: OutputFormat.CJS,
  // The SDK's ES modules are left out as far as they are not used; esbuild's default takes CommonJS: +200 kB.
  mainFields: ["module", "main"],
  minify: true,
  target: "node24",
  // Lambda's own copy of the SDK is not minified and read from many files.
  bundleAwsSDK: true,
  // Beside the code and not named in it, so that it costs no start; `npm run trace` reads it.
  sourceMap: true,
  sourceMapMode: SourceMapMode.EXTERNAL,
  sourcesContent: false,
  commandHooks: {
    beforeInstall: () => [],
    beforeBundling: () => [],
    afterBundling: (_input, output) => [
      `cp ${fileURLToPath(new URL("start.mjs", import.meta.url))} ${output}`,
    ],
  },
  esbuildArgs: {
    // Look-up of credentials in files, profiles, SSO, instance metadata: 374 -> 239 kB.
    "--alias:@aws-sdk/credential-provider-node": replacement("environment-credentials"),
    // Together 239 -> 207 kB.
    "--alias:@aws-sdk/middleware-endpoint-discovery": replacement("no-endpoint-discovery"),
    "--alias:@smithy/core/checksum": replacement("native-sha256"),
    "--alias:@smithy/core/event-streams": replacement("no-event-streams"),
  },
};
