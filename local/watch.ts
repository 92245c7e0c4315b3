import { watch } from "node:fs";

/** Editors write a file in several steps, and save several files at once. */
const QUIET_MS = 100;

/**
 * Calls a function after files in folders changed, never twice at the same time.
 *
 * @param onChange must not reject
 */
export function watchFolders(folders: string[], onChange: () => Promise<void>): void {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  for (const folder of folders) {
    watch(folder, { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        running = running.then(onChange);
      }, QUIET_MS);
    });
  }
}
