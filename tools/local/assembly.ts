import { appendFile, glob, mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { entryOfOutput } from "../../infra/names.ts";
import { localStage, servedStackName } from "../../infra/stages.ts";
import { readStack, type StackDefinition } from "../emulator/template/template.ts";
import { synthesize } from "./synthesize.ts";

/**
 * Synthesizes the app, and bundles the functions.
 *
 * @param folder is replaced, so that no file of an earlier start is served
 * @returns the stack that the local service serves
 * @throws Error with the CDK app's output when it fails
 */
export async function buildStack(folder: string): Promise<StackDefinition> {
  if (process.stderr.isTTY) console.error("Synthesizing the template and bundling the functions ...");
  await rm(folder, { recursive: true, force: true, maxRetries: 9 }); // what a killed start has left can still write
  await mkdir(folder, { recursive: true });
  await synthesize(folder);
  // With these references, errors have positions in the sources. What `cdk deploy` ships is a copy without them.
  for await (const map of glob("bundles/*.js.map", { cwd: folder }))
    await appendFile(
      join(folder, map.replace(".js.map", "/index.cjs")),
      `//# sourceMappingURL=../${basename(map)}\n`,
    );
  return readServedStack(folder);
}

/** Reads what buildStack returned. Its code is what the CDK app makes the assets from, beside the source maps. */
export function readServedStack(folder: string): StackDefinition {
  const stack = readStack(folder, servedStackName);
  const outputOf = new Map(Object.entries(stack.outputs).map(([output, value]) => [value, output]));
  const functions = stack.functions.map(({ environment, ...fn }) => ({
    ...fn,
    code: join(folder, "bundles", entryOfOutput(outputOf.get(fn.name) ?? "")),
    // The only value of the template that is replaced, so that keys of the local service are valid only here.
    environment: "STAGE" in environment ? { ...environment, STAGE: localStage.name } : environment,
  }));
  return { ...stack, functions };
}
