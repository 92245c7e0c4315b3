import { watch } from "node:fs";

/** Editors write a file in several steps, and save several files at once. */
const QUIET_MS = 50;

/**
 * Calls a function after files in folders changed, never twice at the same time.
 *
 * @param onChange must not reject; its signal is aborted when files change again
 */
export function watchFolders(folders: string[], onChange: (signal: AbortSignal) => Promise<void>): void {
  let timer: NodeJS.Timeout | undefined;
  let change = new AbortController();
  let running = Promise.resolve();
  for (const folder of folders) {
    watch(folder, { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        change.abort();
        change = new AbortController();
        const { signal } = change;
        running = running.then(() => onChange(signal));
      }, QUIET_MS);
    });
  }
}
