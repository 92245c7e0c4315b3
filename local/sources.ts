import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isSource } from "../infra/bundle/options.ts";

/**
 * Lists a folder, its subfolders and their sources. It follows links, but not in a circle.
 *
 * @returns each path, and without links
 */
export function listSources(
  path: string,
  above: string[] = [],
): { path: string; real: string; isFolder: boolean }[] {
  return unlessGone(() => {
    const real = realpathSync(path);
    if (!statSync(real).isDirectory())
      return isSource(basename(path)) ? [{ path, real, isFolder: false }] : [];
    if (above.includes(real)) return [];
    const inside = readdirSync(real).flatMap((name) => listSources(join(path, name), [...above, real]));
    return [{ path, real, isFolder: true }, ...inside];
  });
}

/** Returns nothing for what has just disappeared, because the event about it finds the rest, and for a broken link. */
export function unlessGone<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch (error) {
    if (/^(ENOENT|ENOTDIR|ELOOP)$/.test((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}
