import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { BuildOptions } from "esbuild";

const replacement = (name: string) => fileURLToPath(new URL(`replacements/${name}.ts`, import.meta.url));

/** The functions' sources. */
const functionsFolder = fileURLToPath(new URL("../../functions/", import.meta.url));

/** Returns the functions' files. Editors leave others beside them, with another dot in their name, as do types and tests. */
export const entryPoints = () =>
  globSync("+([!.]).ts", { cwd: functionsFolder })
    .map((file) => join(functionsFolder, file))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());

/** Belongs to the code of every function. */
export const lambdaEntryFile = fileURLToPath(new URL("lambda-entry.mjs", import.meta.url));

/**
 * How esbuild turns each of the entry points into one file, in one run that reads the code that they share once. Most
 * options shorten the cold start, which mostly reads and compiles JavaScript. docs/benchmarks.md has the measurements. The
 * sizes are those of getPet.
 */
export const esbuildOptions = {
  // Nothing is written here: esbuild itself would delete the last code when a source has an error. The paths in a source map
  // are relative to this folder.
  outdir: functionsFolder,
  sourceRoot: pathToFileURL(functionsFolder).href,
  write: false,
  bundle: true,
  platform: "node",
  target: "node24",
  // `import` of a built-in module such as node:http takes about 20 ms, `require` does not.
  format: "cjs",
  // esbuild removes unused code from the SDK's ES modules. Its default, the CommonJS modules, adds 243 kB.
  mainFields: ["module", "main"],
  minify: true,
  // The code has no reference to its source map, so that a comment does not change it.
  sourcemap: "external",
  sourcesContent: false,
  alias: {
    // Look-up of credentials in files, profiles, SSO, instance metadata: 376 -> 240 kB.
    "@aws-sdk/credential-provider-node": replacement("environment-credentials"),
    // Endpoint discovery: 240 -> 232 kB. Event streams: 232 -> 212 kB.
    "@aws-sdk/middleware-endpoint-discovery": replacement("no-endpoint-discovery"),
    "@smithy/core/event-streams": replacement("no-event-streams"),
  },
} as const satisfies BuildOptions;
