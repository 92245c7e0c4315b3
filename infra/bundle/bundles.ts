import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build, type OutputFile } from "esbuild";
import { entryPoints, esbuildOptions, lambdaEntryFile } from "./options.ts";

/** Bundles all functions. @returns `get-pet.js` and `get-pet.js.map` for functions/get-pet.ts @throws esbuild's Error */
export async function bundleFunctions(): Promise<OutputFile[]> {
  return (await build({ ...esbuildOptions, entryPoints: entryPoints() })).outputFiles;
}

/**
 * Writes the code of the functions: `index.js`, its source map, and `lambda-entry.mjs`, whose `handler` Lambda calls.
 *
 * @param bundles what esbuild returned
 * @param folder gets a folder for each file of functions/, with its name
 */
export function writeBundles(bundles: OutputFile[], folder: string): void {
  for (const { path, contents } of bundles) {
    const [entry = "", ...extensions] = basename(path).split(".");
    mkdirSync(join(folder, entry), { recursive: true });
    writeFileSync(join(folder, entry, ["index", ...extensions].join(".")), contents);
    copyFileSync(lambdaEntryFile, join(folder, entry, "lambda-entry.mjs"));
  }
}
