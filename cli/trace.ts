import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { synthesize } from "../infra/assembly/synthesize.ts";
import { localStack } from "../infra/stages.ts";
import { configureProgram, runProgram } from "./run-program.ts";
import { type FindSource, readSourceMaps } from "./source-maps.ts";

/** `npm run trace`: maps stack frames of deployed functions to the source. */

interface Options {
  assembly?: string;
  stack: string;
  function?: string;
}

const FRAME = /(?:[^\s()]*\/)?\bindex\.js:(\d+):(\d+)/g;

/** Replaces each position in the bundle with its position in the source. */
function mapFrames(line: string, find: FindSource): string {
  return line.replace(FRAME, (frame, row, column) => find(Number(row), Number(column)) ?? frame);
}

/** Returns the stack frames in a log line, at any depth of its JSON. Returns any other line unchanged. */
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

/** Returns the function that wrote a log line. The line contains its operation. */
const functionOf = (line: string) => /"operation":\s*"(\w+)"/.exec(line)?.[1];

/** Prints the input with its frames mapped. It omits log lines without frames. */
function printMapped(input: string, maps: (name: string) => FindSource, functionName?: string): void {
  for (const line of input.split("\n").filter((part) => part.trim() !== "")) {
    const frames = framesIn(line);
    if (frames.every((frame) => frame.search(FRAME) < 0)) {
      if (!line.startsWith("{")) console.log(line);
      continue;
    }
    const name = functionName ?? functionOf(line);
    if (!name) throw new Error("The input does not name a function: add --function, such as get-pet.");
    const find = maps(name);
    for (const frame of frames) console.log(mapFrames(frame, find));
  }
}

async function trace({ assembly, stack, function: functionName }: Options): Promise<void> {
  const input = await text(process.stdin);
  if (assembly) return printMapped(input, readSourceMaps(assembly, stack), functionName);
  const folder = await mkdtemp(join(tmpdir(), "animal-store-trace-"));
  try {
    await synthesize(folder, [stack]);
    printMapped(input, readSourceMaps(folder, stack), functionName);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const program = configureProgram(new Command("npm run trace --"))
  .description(
    "Reads stack frames, or lines of a function's log, from standard input and prints them with positions in the source. Check out the commit that is deployed first.",
  )
  .option("--stack <name>", "the stack that runs the function", localStack)
  .option("--function <name>", "such as get-pet (default: the operation that a log line names)")
  .option("--assembly <folder>", "an assembly from `npx cdk synth` (default: synthesize this checkout)")
  .action(trace);

await runProgram(program, "trace");
