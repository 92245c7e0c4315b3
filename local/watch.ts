import { EventEmitter, on } from "node:events";
import { statSync } from "node:fs";
import { listSources } from "./sources.ts";

/** How often it looks for changes, in milliseconds. Editors write a file in several steps: it waits until none follows. */
const POLL_MS = 100;

function stateOf(folders: string[]): string {
  const files = folders.flatMap((folder) => listSources(folder));
  const stats = files.map((file) => statSync(file, { throwIfNoEntry: false }));
  return JSON.stringify(files.map((file, n) => [file, stats[n]?.ino, stats[n]?.size, stats[n]?.ctimeMs]));
}

/**
 * Watches the sources in folders and their subfolders from the call on, also those that links name. It polls, because the
 * events of a file system lose sight of files that editors replace, and of what links name.
 *
 * @returns the changes, also those before the iteration begins, each as a signal that is aborted when sources change again
 */
export function watchFolders(folders: string[]): AsyncIterable<[AbortSignal]> {
  const changes = new EventEmitter<{ change: [AbortSignal] }>();
  let change = new AbortController();
  let last = stateOf(folders);
  let reported = last;
  setInterval(() => {
    const state = stateOf(folders);
    const isQuiet = state === last;
    last = state;
    if (!isQuiet || state === reported) return;
    reported = state;
    change.abort();
    change = new AbortController();
    changes.emit("change", change.signal);
  }, POLL_MS).unref();
  return on(changes, "change") as AsyncIterable<[AbortSignal]>;
}
