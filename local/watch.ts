import { EventEmitter, on } from "node:events";
import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";

/** Editors write a file in several steps, and save several files at once. */
const QUIET_MS = 50;

/**
 * Watches folders and their subfolders from the call on.
 *
 * @returns the changes, also those before the iteration begins, each as a signal that is aborted when files change again
 */
export function watchFolders(folders: string[]): AsyncIterable<[AbortSignal]> {
  const changes = new EventEmitter<{ change: [AbortSignal] }>();
  let timer: NodeJS.Timeout | undefined;
  let change = new AbortController();
  let watchers: FSWatcher[] = [];

  // Not with `recursive`: on Linux, Node then loses sight of a file that an editor replaces.
  function watchAll(): void {
    const last = watchers;
    watchers = folders.flatMap(withSubfolders).map((folder) => watch(folder, onEvent));
    for (const watcher of last) watcher.close();
  }

  function onEvent(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      watchAll(); // A subfolder can be new.
      change.abort();
      change = new AbortController();
      changes.emit("change", change.signal);
    }, QUIET_MS);
  }

  watchAll();
  return on(changes, "change") as AsyncIterable<[AbortSignal]>;
}

function withSubfolders(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const subfolders = entries.filter((entry) => entry.isDirectory());
  return [folder, ...subfolders.map(({ parentPath, name }) => join(parentPath, name))];
}
