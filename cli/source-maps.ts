import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join } from "node:path";
import { readStack } from "../local/assembly/template.ts";

/** Maps a line and column (from 1) of a bundle to its source, `path:line:column`. */
export type FindSource = (line: number, column: number) => string | undefined;

const letters = (name: string) => name.replace(/[^a-z]/gi, "").toLowerCase();

/**
 * Reads the functions of a stack, to open their source maps.
 *
 * @param assembly folder that `cdk synth` or `synthesize` wrote
 * @param stack such as animal-store-staging
 * @returns opens the map of a function by its name in any spelling: get-pet, getPet, GetPet
 * @throws Error in one line if there is no such assembly, function or map
 */
export function readSourceMaps(assembly: string, stack: string): (name: string) => FindSource {
  const functions = readFunctions(assembly, stack);
  return (name) => {
    const found = functions.find((fn) => letters(fn.name).startsWith(letters(name)));
    if (!found || letters(name) === "") throw new Error(`There is no function ${name} in ${stack}.`);
    try {
      return sourceFinder(found.code);
    } catch {
      // `cdk list` and `cdk diff` of another stack write templates without bundling the functions.
      throw new Error(
        `${assembly} has no source map of ${name}: omit --assembly, or run \`npx cdk synth\` again.`,
      );
    }
  };
}

function readFunctions(assembly: string, stack: string) {
  try {
    return readStack(assembly, stack).functions;
  } catch {
    throw new Error(`There is no stack ${stack} in ${assembly}.`);
  }
}

function sourceFinder(folder: string): FindSource {
  const map = new SourceMap(JSON.parse(readFileSync(join(folder, "index.js.map"), "utf8")));
  return (line, column) => {
    const entry = map.findEntry(line - 1, column - 1);
    if (!("originalSource" in entry)) return undefined;
    // Sources are URLs, relative to functions/.
    const path = join("functions", decodeURIComponent(entry.originalSource));
    return `${path}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  };
}
