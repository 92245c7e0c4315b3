import { text } from "node:stream/consumers";
import { Command, Option } from "commander";
import { localStack } from "../infra/stages.ts";
import { type FindSource, readPositions } from "./source-maps.ts";

/** `npm run trace`: turns stack frames of deployed functions back into places in the source. */

interface Options {
  assembly: string;
  stack: string;
  function?: string;
}

const FRAME = /(?:[^\s()]*\/)?\bindex\.js:(\d+):(\d+)/g;

/** Puts the place in the source where a frame names one in the bundle. */
function resolve(line: string, find: FindSource): string {
  return line.replace(FRAME, (frame, row, column) => find(Number(row), Number(column)) ?? frame);
}

/** The frames in a line of the log, which may be JSON at any depth; a line without any is itself one. */
function framesIn(line: string): string[] {
  try {
    const found: string[] = [];
    JSON.parse(line, (_key, value) => {
      if (typeof value === "string" && value.search(FRAME) >= 0) found.push(...value.split("\n"));
      return value;
    });
    return found;
  } catch {
    return [line];
  }
}

/** The function that a line of the log is of: the log names the operation. */
const functionOf = (line: string) => /"operation":\s*"(\w+)"/.exec(line)?.[1];

const program = new Command("npm run trace --")
  .description(
    "Reads stack frames, or lines of a function's log, from standard input and prints the places in the source. The assembly must be of the same commit as what runs: `npx cdk synth` makes it.",
  )
  .option("--assembly <folder>", "the synthesized assembly", "cdk.out")
  .addOption(new Option("--stack <name>", "which stack of it").default(localStack))
  .option("--function <name>", "such as get-pet; a line of the log that names its operation needs none")
  .showHelpAfterError("(--help tells what there is)")
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(async (options: Options) => {
    const maps = readPositions(options.assembly, options.stack);
    for (const line of (await text(process.stdin)).split("\n").filter((each) => each.trim() !== "")) {
      const name = options.function ?? functionOf(line);
      const frames = framesIn(line);
      if (frames.every((frame) => frame.search(FRAME) < 0)) {
        if (!line.startsWith("{")) console.log(line);
        continue;
      }
      if (!name) throw new Error("Which function is this of? Say so with --function, such as get-pet.");
      const find = maps(name);
      for (const frame of frames) console.log(resolve(frame, find));
    }
  });

try {
  await program.parseAsync();
} catch (error) {
  console.error(`trace: ${(error as Error).message}`);
  process.exitCode = 1;
}
