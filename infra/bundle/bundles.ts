import { build, type OutputFile } from "esbuild";
import { entryPoints, esbuildOptions, functionsFolder } from "./options.ts";

/**
 * The bundles of all functions and their source maps, or why esbuild failed. One run of esbuild reads the code that the
 * functions share once. It starts when this module is loaded. The paths in the source maps are relative to functions/, so
 * that the same sources have the same hash wherever they are bundled.
 */
export const bundles: Promise<OutputFile[] | Error> = build({
  ...esbuildOptions,
  entryPoints: entryPoints(),
  outdir: functionsFolder,
  write: false,
}).then(
  ({ outputFiles }) => outputFiles,
  (error: Error) => error,
);
