import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { context } from "esbuild";
import { bundling, entryPoints, startFile } from "./options.ts";

/**
 * Prepares to bundle the functions again and again: esbuild then reads only the files that changed.
 *
 * @param folder where the code is written, a folder for each file of functions/
 * @returns writes the current code; throws esbuild's Error
 */
export async function rebundling(folder: string): Promise<() => Promise<void>> {
  const { rebuild } = await context({
    ...bundling,
    sourcemap: false,
    logLevel: "silent",
    entryPoints: entryPoints(),
    entryNames: "[name]/index",
    outdir: folder,
    metafile: true,
  });
  return async () => {
    const { metafile } = await rebuild();
    // The functions are CommonJS, even if a package.json in a parent folder declares ES modules.
    await writeFile(join(folder, "package.json"), "{}");
    for (const output of Object.keys(metafile.outputs))
      await copyFile(startFile, join(output, "..", "start.mjs"));
  };
}
