import { copyFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { AssetHashType, DockerImage, type ILocalBundling } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import type { OutputFile } from "esbuild";
import { functionsFolder, lambdaEntryFile } from "./options.ts";

/** Returns the code of a function, by the file's name in functions/ without its extension. */
export type FunctionCode = (entry: string) => Code;

/**
 * The code of the functions: `index.js`, its source map, and `lambda-entry.mjs`, whose `handler` Lambda calls.
 *
 * @param bundles esbuild's files, or its error, which is thrown only when a stack needs them
 */
export function bundledCode(bundles: OutputFile[] | Error): FunctionCode {
  return (entry) => {
    // NodejsFunction can add a second file only with a shell command, which breaks in a folder whose name has a space or a
    // quote.
    const local: ILocalBundling & { entry: string } = {
      entry, // part of the key under which the CDK caches the bundle for both stages
      tryBundle(outputFolder) {
        if (bundles instanceof Error) throw bundles;
        for (const extension of [".js", ".js.map"]) {
          const output = bundles.find(({ path }) => basename(path) === entry + extension);
          if (!output) throw new Error(`There is no functions/${entry}.ts.`);
          writeFileSync(join(outputFolder, `index${extension}`), output.contents);
        }
        copyFileSync(lambdaEntryFile, join(outputFolder, "lambda-entry.mjs"));
        return true;
      },
    };
    // The CDK requires an image, for hosts that cannot bundle locally.
    const bundling = { image: DockerImage.fromRegistry("unused"), local };
    return Code.fromAsset(functionsFolder, { assetHashType: AssetHashType.OUTPUT, bundling });
  };
}
