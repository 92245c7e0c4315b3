import { SourceMap } from "node:module";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { Command, Option } from "commander";
import { bundleFunctions } from "../infra/bundle/bundles.ts";
import { entryPoints } from "../infra/bundle/options.ts";
import { entryName } from "../infra/names.ts";
import { escapeControls } from "./escape-controls.ts";
import { configureProgram, print, runProgram } from "./run-program.ts";

/** `npm run symbolicate`: replaces positions in the bundles of the functions by those in the source. */

/** What can have a position in it: text without a space, a parenthesis or a quote. */
const TOKEN = /[^\s()"]+/g;
/** A position in a stack frame: the end of /var/task/index.js:25:4696. */
const POSITION = /(?<=^|\/)index\.js:(\d+):(\d+)/;

/** Bundles this checkout and reads the source map of a function. @param name such as getPet or get-pet */
async function openSourceMap(name: string): Promise<SourceMap> {
  const bundles = await bundleFunctions({ sourcemap: "external" });
  const found = bundles.find(({ path }) => basename(path) === `${entryName(name)}.js.map`);
  if (!found) throw new Error(`There is no function ${name}.`);
  return new SourceMap(JSON.parse(found.text));
}

/** Returns the position in the source, or undefined for code that the bundler added. All numbers start at 1. */
function findSource(map: SourceMap, line: number, column: number): string | undefined {
  const entry = map.findEntry(line - 1, column - 1);
  if (!("originalSource" in entry)) return undefined;
  // Sources are URLs, relative to functions/.
  const path = join("functions", decodeURIComponent(entry.originalSource));
  return `${path}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

async function symbolicate(options: { function?: string }): Promise<void> {
  const maps = new Map<string, SourceMap>();
  for await (const line of createInterface({ input: process.stdin })) {
    let mapped = line;
    if (line.match(TOKEN)?.some((token) => POSITION.test(token))) {
      const name = options.function ?? /"operation":\s*"(\w+)"/.exec(line)?.[1];
      if (!name) throw new Error("A line names no function: add --function, such as get-pet.");
      const map = maps.get(name) ?? (await openSourceMap(name));
      maps.set(name, map);
      mapped = line.replace(TOKEN, (token) => {
        const found = POSITION.exec(token);
        const source = found && findSource(map, Number(found[1]), Number(found[2]));
        return source ? source + token.slice(found.index + found[0].length) : token;
      });
    }
    await print(escapeControls(mapped));
  }
}

/** The command, for tests in their own process. */
export const program = configureProgram(new Command("npm run symbolicate --"))
  .description(
    "Reads stack traces or a function's log from standard input and prints them with positions in the source. Check out the commit that is deployed and run `npm ci` first.",
  )
  .addOption(
    new Option(
      "--function <name>",
      "its file in functions/ (default: the operation that a log line names)",
    ).choices(entryPoints().map((path) => basename(path, ".ts"))),
  )
  .action(symbolicate);

if (import.meta.main) process.exitCode = await runProgram(program, "symbolicate");
