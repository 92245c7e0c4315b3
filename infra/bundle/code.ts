import { copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AssetHashType, DockerImage, type ILocalBundling } from "aws-cdk-lib";
import { type AssetCode, Code } from "aws-cdk-lib/aws-lambda";
import { buildSync, type OutputFile } from "esbuild";
import { bundling } from "./options.ts";

const functionsFolder = fileURLToPath(new URL("../../functions/", import.meta.url));
const start = fileURLToPath(new URL("start.mjs", import.meta.url));

let bundles: OutputFile[] | undefined;

/**
 * Bundles all functions in one run of esbuild, which reads the code that they share once. The paths in the source maps
 * are relative to functions/, so that the same sources have the same hash wherever they are bundled.
 */
function bundleFunctions(): OutputFile[] {
  bundles ??= buildSync({
    ...bundling,
    entryPoints: readdirSync(functionsFolder).map((file) => join(functionsFolder, file)),
    outdir: functionsFolder,
    write: false,
  }).outputFiles;
  return bundles;
}

/**
 * Bundles a function with esbuild's own API, because NodejsFunction can add a second file only with a shell command,
 * which breaks in a folder whose name has a space or a quote.
 */
class FunctionBundle implements ILocalBundling {
  readonly entry: string; // part of the key under which the CDK caches the bundle for both stages

  constructor(entry: string) {
    this.entry = entry;
  }

  tryBundle(outputFolder: string): boolean {
    for (const extension of [".js", ".js.map"]) {
      const output = bundleFunctions().find(({ path }) => basename(path) === this.entry + extension);
      if (!output) throw new Error(`There is no functions/${this.entry}.ts.`);
      writeFileSync(join(outputFolder, `index${extension}`), output.contents);
    }
    copyFileSync(start, join(outputFolder, "start.mjs"));
    return true;
  }
}

/**
 * The code of a function: `index.js`, its source map, and `start.mjs`, whose `handler` Lambda calls.
 *
 * @param entry the file's name in functions/, without its extension
 */
export function functionCode(entry: string): AssetCode {
  return Code.fromAsset(functionsFolder, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry("unused"), // the CDK requires one, for hosts that cannot bundle locally
      local: new FunctionBundle(entry),
    },
  });
}
