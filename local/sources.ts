import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isSource } from "../infra/bundle/options.ts";

/** Lists a folder, its subfolders and their sources, each with the folder to watch. It follows links, but in no circle. */
export function listSources(path: string, above: string[] = []): { path: string; folder: string }[] {
  return unlessGone(() => {
    const real = realpathSync(path);
    if (!statSync(real).isDirectory())
      return isSource(basename(path)) ? [{ path, folder: dirname(real) }] : [];
    if (above.includes(real)) return [];
    const inside = readdirSync(real).flatMap((name) => listSources(join(path, name), [...above, real]));
    return [{ path, folder: real }, ...inside];
  });
}

/** Returns nothing for a broken link, and for what has just disappeared: the event about it finds the rest. */
export function unlessGone<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch (error) {
    if (/^(ENOENT|ENOTDIR|ELOOP)$/.test((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}
