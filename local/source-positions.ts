import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join } from "node:path";
import { root } from "./assembly.ts";
import { assemblyFolder } from "./data-folder.ts";

/** A position in a bundle: the path in the folder of the assemblies, the line and the column. */
const BUNDLE_POSITION = /(?:file:\/\/)?\/[^"\n]*?\/([\da-f]{32}\/bundles\/[\w-]+)\/index\.js:(\d+):(\d+)/g;

/** Those that an error needed. */
const sourceMaps = new Map<string, SourceMap>();

/**
 * Replaces the positions in the bundles of the assembly by those in the sources. A start does not read the source maps, which
 * takes time. `npm run dev` has them in its code, for a debugger.
 *
 * @param text stack frames, in JSON or not
 */
export function withSourcePositions(text: string): string {
  return text.replaceAll(BUNDLE_POSITION, (position, bundle, line, column) => {
    const file = join(assemblyFolder, `${bundle}.js.map`);
    if (!existsSync(file)) return position;
    const map = sourceMaps.get(file) ?? new SourceMap(JSON.parse(readFileSync(file, "utf8")));
    sourceMaps.set(file, map);
    const origin = map.findOrigin(Number(line), Number(column));
    if (!("fileName" in origin)) return position;
    return `${join(root, "functions", origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}
