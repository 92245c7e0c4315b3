import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { context } from "esbuild";
import { entryPoints, esbuildOptions, lambdaEntryFile } from "./options.ts";

/**
 * Prepares to bundle the functions again and again: esbuild then reads only the files that changed.
 *
 * @param folder where the code is written, a folder for each file of functions/
 * @returns writes the current code; throws esbuild's Error, and then keeps the last code
 */
export async function createRebuild(folder: string): Promise<() => Promise<void>> {
  const { rebuild } = await context({
    ...esbuildOptions,
    sourcemap: false,
    logLevel: "silent",
    entryPoints: entryPoints(),
    entryNames: "[name]/index",
    outdir: folder,
    write: false, // esbuild would delete the last code when a source has an error
  });
  return async () => {
    const { outputFiles } = await rebuild();
    for (const { path, contents } of outputFiles) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, contents);
      await copyFile(lambdaEntryFile, join(dirname(path), "lambda-entry.mjs"));
    }
    // The functions are CommonJS, even if a package.json in a parent folder declares ES modules.
    await writeFile(join(folder, "package.json"), "{}");
  };
}
