import { chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type BuildOptions, build, type OutputFile, stop } from "esbuild";
import { entryPoints, esbuildOptions, lambdaEntryFile } from "./options.ts";

/**
 * Bundles all functions.
 *
 * @returns `get-pet.js` and its source map `get-pet.js.map` for functions/get-pet.ts
 * @throws esbuild's Error
 */
export async function bundleFunctions(
  options: Pick<BuildOptions, "sourcemap" | "logLevel"> = {},
): Promise<OutputFile[]> {
  const building = build({ ...esbuildOptions, ...options, entryPoints: entryPoints() });
  return (await building.finally(stop)).outputFiles; // ends esbuild's process
}

/**
 * Writes the code of the functions: `index.cjs`, and `lambda-entry.mjs`, whose `handler` Lambda calls. A source map is not in
 * the same folder: it changes with every comment, and the function would be deployed again.
 *
 * @param bundles what esbuild returned
 * @param folder gets a folder for each file of functions/, with its name, and beside it the source map, such as
 *   `get-pet.js.map`
 */
export function writeBundles(bundles: OutputFile[], folder: string): void {
  for (const { path, contents } of bundles) {
    const [entry = "", , map] = basename(path).split(".");
    mkdirSync(join(folder, entry), { recursive: true });
    writeFileSync(join(folder, map ? basename(path) : `${entry}/index.cjs`), contents);
    if (!map) writeFileSync(join(folder, entry, "lambda-entry.mjs"), readFileSync(lambdaEntryFile));
  }
  // Lambda reads the code as another user. The mode is not part of an asset's hash, so a wrong one would stay.
  for (const file of globSync("*/*", { cwd: folder })) chmodSync(join(folder, file), 0o644);
}
