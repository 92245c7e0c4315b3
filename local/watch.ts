import { EventEmitter, on } from "node:events";
import { type Dirent, type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { isSource } from "../infra/bundle/options.ts";

/** Editors write a file in several steps, and save several files at once. */
const QUIET_MS = 50;

/**
 * Watches the sources in folders and their subfolders from the call on.
 *
 * @returns the changes, also those before the iteration begins, each as a signal that is aborted when sources change again
 * @throws Error in one line when the system watches no more folders; later, it is an uncaught exception
 */
export function watchFolders(folders: string[]): AsyncIterable<[AbortSignal]> {
  const changes = new EventEmitter<{ change: [AbortSignal] }>();
  let timer: NodeJS.Timeout | undefined;
  let change = new AbortController();
  let watched: string[] = [];
  let watchers: FSWatcher[] = [];
  let sourceChanged = false;

  // Not with `recursive`: on Linux, Node then loses sight of a file that an editor replaces.
  function watchAll(): void {
    const last = watchers;
    watched = folders.flatMap(withSubfolders);
    watchers = watched.flatMap((folder) => unlessGone(() => [watch(folder, onEvent)]));
    for (const watcher of last) watcher.close();
  }

  function onEvent(_type: string, name: string | null): void {
    sourceChanged ||= name === null || isSource(name);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const before = watched.join();
      watchAll(); // A subfolder can be new, and have sources.
      if (!sourceChanged && watched.join() === before) return;
      sourceChanged = false;
      change.abort();
      change = new AbortController();
      changes.emit("change", change.signal);
    }, QUIET_MS);
  }

  watchAll();
  return on(changes, "change") as AsyncIterable<[AbortSignal]>;
}

function withSubfolders(folder: string): string[] {
  const entries = unlessGone<Dirent>(() => readdirSync(folder, { withFileTypes: true }));
  const subfolders = entries.filter((entry) => entry.isDirectory());
  return [folder, ...subfolders.flatMap(({ name }) => withSubfolders(join(folder, name)))];
}

/** Returns nothing for a folder that has just disappeared: the event about it finds the rest. */
function unlessGone<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch (error) {
    if (/^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}
