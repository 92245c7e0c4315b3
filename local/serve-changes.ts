import { setTimeout as pause } from "node:timers/promises";
import type { StackDefinition } from "../emulator/template/template.ts";
import { createRebuild } from "../infra/bundle/rebuild.ts";
import { currentStack, hashSources, sourceFolders, templateFolders } from "./assembly.ts";
import { functionsFolder } from "./data-folder.ts";
import type { Service } from "./serve.ts";
import { watchFolders } from "./watch.ts";

/** How long the changed functions have the processor for themselves before a synthesis can start. */
const SYNTHESIS_DELAY_MS = 500;

/**
 * Serves the sources and their changes, and the last ones while a source has an error.
 *
 * @param start starts the service with the stack that it reads
 * @param stopping aborted when the service stops
 */
export async function serveChanges(
  start: (readStack: () => Promise<StackDefinition>) => Promise<Service>,
  stopping: AbortSignal,
): Promise<void> {
  const rebundle = createRebuild(functionsFolder);
  // Before the start reads the sources, so that no change is missed.
  const changes = watchFolders(sourceFolders);
  let template = await hashSources(templateFolders); // of the stack that is served
  const readStack = (signal: AbortSignal) => currentStack({ signal, code: functionsFolder });
  let { stack, replace } = await start(() => rebundle().then(() => readStack(stopping)));

  for await (const [changedAgain] of changes) {
    const signal = AbortSignal.any([stopping, changedAgain]);
    /** Serves a part of the change. @returns what it serves, or undefined when the part has an error or has changed again */
    const show = async (part: string, read: () => Promise<StackDefinition>) => {
      try {
        signal.throwIfAborted();
        const next = await read();
        signal.throwIfAborted();
        replace(next);
        console.error(`The changed ${part} served.`);
        return next;
      } catch (error) {
        if (!signal.aborted) console.error(`The changed ${part} not served. ${(error as Error).message}`);
      }
    };
    // The functions first, with the last template, because a synthesis takes seconds.
    if (!(await show("functions are", () => rebundle().then(() => stack)))) continue;
    await pause(SYNTHESIS_DELAY_MS, undefined, { signal }).catch(() => undefined);
    const changed = await hashSources(templateFolders).catch(() => "");
    if (changed === template) continue;
    const next = await show("template is", () => readStack(signal));
    if (next) [stack, template] = [next, changed];
  }
}
