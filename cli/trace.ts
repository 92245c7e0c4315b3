import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { servedStack } from "../infra/stages.ts";
import { synthesize } from "../local/assembly/synthesize.ts";
import { escapeControls } from "./escape-controls.ts";
import { mapLog } from "./map-log.ts";
import { configureProgram, runProgram } from "./run-program.ts";
import { readSourceMaps } from "./source-maps.ts";

/** `npm run trace`: maps stack frames of deployed functions to the source. */

interface Options {
  assembly?: string;
  stack: string;
  function?: string;
}

async function trace({ stack, assembly, function: functionName }: Options): Promise<void> {
  const input = await text(process.stdin);
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-trace-"));
  if (!assembly) await synthesize(folder.path, [stack]);
  const maps = readSourceMaps(assembly ?? folder.path, stack);
  for (const line of mapLog(input, maps, functionName)) console.log(escapeControls(line));
}

const program = configureProgram(new Command("npm run trace --"))
  .description(
    "Reads stack frames, or lines of a function's log, from standard input and prints them with positions in the source. Check out the commit that is deployed first.",
  )
  .option("--stack <name>", "the stack that runs the function", servedStack)
  .option("--function <name>", "such as get-pet (default: the operation that a log line names)")
  .option("--assembly <folder>", "an assembly from `npx cdk synth` (default: synthesize this checkout)")
  .action(trace);

process.exitCode = await runProgram(program, "trace");
