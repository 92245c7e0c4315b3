import { EventEmitter, on } from "node:events";
import { type FSWatcher, watch } from "node:fs";
import { isSource } from "../infra/bundle/options.ts";
import { listSources, unlessGone } from "./sources.ts";

/** Editors write a file in several steps, and save several files at once. */
const QUIET_MS = 50;

/**
 * Watches the sources in folders and their subfolders from the call on, also those that links name.
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
    // Also the earlier ones: the target of a link can come back.
    watched = [
      ...new Set([...watched, ...folders.flatMap((path) => listSources(path).map(({ folder }) => folder))]),
    ];
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
