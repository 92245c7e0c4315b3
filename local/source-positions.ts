import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join } from "node:path";
import { root } from "./assembly.ts";

/** A position in the code that `npm start` serves. The code of `npm run dev` has its source map in it, for a debugger. */
const BUNDLE_POSITION = /(\/(?:[^"\n]|\\")*?\/bundles\/[\w-]+)\/index\.cjs:(\d+):(\d+)/g;

const sourceMaps = new Map<string, SourceMap>();

/**
 * Replaces positions in bundles by those in the sources. A start does not wait for the source maps: an error reads them.
 *
 * @param text of the log, with strings as in JSON
 */
export const withSourcePositions = (text: string): string =>
  text.replaceAll(BUNDLE_POSITION, (position, bundle, line, column) => {
    const file = `${bundle.replaceAll(/\\(["\\])/g, "$1")}.js.map`;
    if (!existsSync(file)) return position;
    const map = sourceMaps.get(file) ?? new SourceMap(JSON.parse(readFileSync(file, "utf8")));
    sourceMaps.set(file, map);
    const origin = map.findOrigin(Number(line), Number(column));
    if (!("fileName" in origin)) return position;
    const path = JSON.stringify(join(root, "functions", origin.fileName)).slice(1, -1);
    return `${path}:${origin.lineNumber}:${origin.columnNumber}`;
  });
