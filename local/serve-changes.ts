import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { StackDefinition } from "../emulator/template/template.ts";
import { currentStack, hashSources, sourceFolders, templateFolders } from "./assembly.ts";
import { functionsFolder } from "./data-folder.ts";
import { createRebuild } from "./rebuild.ts";
import type { Service } from "./serve.ts";
import { watchFolders } from "./watch.ts";

/** How long the changed functions have the processor for themselves before a synthesis can start. */
const SYNTHESIS_DELAY_MS = 500;

/**
 * Serves the sources and their changes, and the last ones while a source has an error.
 *
 * @param env names the data folder
 * @param start starts the service with the stack that it reads
 * @param stopping aborted when the service stops
 */
export async function serveChanges(
  env: NodeJS.ProcessEnv,
  start: (readStack: () => Promise<StackDefinition>) => Promise<Service>,
  stopping: AbortSignal,
): Promise<void> {
  const code = functionsFolder(env);
  const rebundle = createRebuild(code);
  // Before the start reads the sources, so that no change is missed.
  const changes = watchFolders(sourceFolders);
  let template = await hashSources(templateFolders); // of the stack that is served
  let bundles: Record<string, string> = {};
  const readStack = (signal: AbortSignal) => currentStack(env, { signal, code });
  let { stack, replace } = await start(async () => {
    bundles = await rebundle();
    return readStack(stopping);
  });
  let served = bundles;
  let unserved = ""; // the part that the last report calls not served
  console.error(`Watching ${sourceFolders.map((folder) => `${basename(folder)}/`).join(", ")} for changes.`);

  for await (const [changedAgain] of changes) {
    const signal = AbortSignal.any([stopping, changedAgain]);
    let part = "functions are";
    const goneFrom = ({ functions }: StackDefinition) =>
      functions.map(({ code }) => basename(code)).find((entry) => !(entry in bundles));
    const serve = (next: StackDefinition) => {
      signal.throwIfAborted();
      const gone = goneFrom(next);
      if (gone) throw new Error(`functions/${gone}.ts is missing.`);
      replace(next);
      [stack, served, unserved] = [next, bundles, ""];
      console.error(`The changed ${part} served.`);
    };
    try {
      bundles = await rebundle();
      // The functions first, with the last template, because a synthesis takes seconds. It can remove a function.
      if (!goneFrom(stack) && !isDeepStrictEqual(bundles, served)) serve(stack);
      await pause(SYNTHESIS_DELAY_MS, undefined, { signal });
      const changed = await hashSources(templateFolders).catch(() => "");
      if (changed !== template) {
        part = "template is";
        serve(await readStack(signal));
        template = changed;
      } else if (unserved || goneFrom(stack)) {
        part = unserved || part; // if the mistake has been undone
        serve(stack);
      }
    } catch (error) {
      if (signal.aborted) continue;
      unserved = part;
      console.error(`The changed ${part} not served. ${(error as Error).message}`);
    }
  }
}
