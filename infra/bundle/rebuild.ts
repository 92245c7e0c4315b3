import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { context } from "esbuild";
import { writeBundles } from "./bundles.ts";
import { entryPoints, esbuildOptions } from "./options.ts";

const start = (files: string[]) => context({ ...esbuildOptions, entryPoints: files, logLevel: "silent" });

/**
 * Bundles the functions, so that it takes less time to bundle them again: esbuild then reads only the files that changed. The
 * first time does not report a mistake.
 *
 * @param folder where the code is written, a folder for each file of functions/
 * @returns writes the current code; throws esbuild's Error, and then keeps the last code
 */
export async function createRebuild(folder: string): Promise<() => Promise<void>> {
  let files = entryPoints();
  let bundler = await start(files);
  const rebundle = async () => {
    if (entryPoints().join() !== files.join()) {
      await bundler.dispose();
      files = entryPoints();
      bundler = await start(files);
    }
    const { outputFiles } = await bundler.rebuild();
    writeBundles(outputFiles, folder);
    // The functions are CommonJS, even if a package.json in a parent folder declares ES modules.
    writeFileSync(join(folder, "package.json"), "{}");
  };
  // esbuild would let a second run that begins meanwhile share the result of the first.
  await rebundle().catch(() => undefined);
  return rebundle;
}
