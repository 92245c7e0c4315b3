import { EventEmitter, on } from "node:events";
import { statSync } from "node:fs";
import { listSources } from "./sources.ts";

/** How long it waits before it looks again, in milliseconds. Editors write a file in several steps: it reports the last one. */
const PAUSE_MS = 100;

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
  const look = () => {
    const start = performance.now();
    const state = stateOf(folders);
    // On a slow disk, a look takes long and holds up the service.
    setTimeout(look, PAUSE_MS + 10 * (performance.now() - start)).unref();
    const isQuiet = state === last;
    last = state;
    if (!isQuiet || state === reported) return;
    reported = state;
    change.abort();
    change = new AbortController();
    changes.emit("change", change.signal);
  };
  setTimeout(look, PAUSE_MS).unref();
  return on(changes, "change") as AsyncIterable<[AbortSignal]>;
}
