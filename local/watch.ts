import { EventEmitter, on } from "node:events";
import { watch } from "node:fs";

/** Editors write a file in several steps, and save several files at once. */
const QUIET_MS = 50;

/**
 * Watches folders from the call on.
 *
 * @returns the changes, also those before the iteration begins, each as a signal that is aborted when files change again
 */
export function watchFolders(folders: string[]): AsyncIterable<[AbortSignal]> {
  const changes = new EventEmitter<{ change: [AbortSignal] }>();
  let timer: NodeJS.Timeout | undefined;
  let change = new AbortController();
  for (const folder of folders) {
    watch(folder, { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        change.abort();
        change = new AbortController();
        changes.emit("change", change.signal);
      }, QUIET_MS);
    });
  }
  return on(changes, "change") as AsyncIterable<[AbortSignal]>;
}
