import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AssetHashType, DockerImage, type ILocalBundling } from "aws-cdk-lib";
import { type AssetCode, Code } from "aws-cdk-lib/aws-lambda";
import { buildSync } from "esbuild";
import { bundling } from "./options.ts";

const functionsFolder = fileURLToPath(new URL("../../functions/", import.meta.url));
const start = fileURLToPath(new URL("start.mjs", import.meta.url));

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
    buildSync({
      ...bundling,
      entryPoints: [join(functionsFolder, `${this.entry}.ts`)],
      outfile: join(outputFolder, "index.js"),
    });
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
