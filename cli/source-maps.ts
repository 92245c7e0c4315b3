import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readStack } from "../infra/assembly/template.ts";

/** Finds the place in the source, `path:line:column`, that a line and column (from 1) of a bundle was made of. */
export type FindSource = (line: number, column: number) => string | undefined;

const root = fileURLToPath(new URL("..", import.meta.url));

const plain = (name: string) => name.replace(/[^a-z]/gi, "").toLowerCase();

/**
 * Opens the source maps of a stack's functions.
 *
 * @param assembly folder that `cdk synth` or `synthesize` wrote
 * @param stack such as animal-store-staging
 * @returns opens that of a function by its name in any spelling: get-pet, getPet, GetPet
 * @throws Error in one line when there is no such assembly, function or map
 */
export function readPositions(assembly: string, stack: string): (name: string) => FindSource {
  const functions = readFunctions(assembly, stack);
  return (name) => {
    const found = functions.find((each) => plain(each.name).startsWith(plain(name)));
    if (!found || plain(name) === "") throw new Error(`There is no function ${name} in ${stack}.`);
    try {
      return sourceFinder(found.code);
    } catch {
      throw new Error(`There is no source map of ${name} in ${found.code}: synthesize again.`);
    }
  };
}

function readFunctions(assembly: string, stack: string) {
  try {
    return readStack(assembly, stack).functions;
  } catch {
    throw new Error(`There is no stack ${stack} in ${assembly}: run \`npx cdk synth\`, or say --assembly.`);
  }
}

function sourceFinder(folder: string): FindSource {
  const map = new SourceMap(JSON.parse(readFileSync(join(folder, "index.js.map"), "utf8")));
  return (line, column) => {
    const entry = map.findEntry(line - 1, column - 1);
    if (!("originalSource" in entry)) return undefined;
    // Paths start at the asset's folder; of an assembly that was moved here, only their ends are true.
    const path = relative(root, join(resolve(folder), entry.originalSource)).replace(/^(\.\.\/)+/, "");
    return `${path}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  };
}
