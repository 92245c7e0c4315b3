import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isSource } from "../infra/bundle/options.ts";

/** Lists the sources in a folder and its subfolders. It follows links, but in no circle. */
export function listSources(path: string, above: string[] = []): string[] {
  try {
    const real = realpathSync(path);
    if (!statSync(real).isDirectory()) return isSource(basename(path)) ? [path] : [];
    if (above.includes(real)) return [];
    return readdirSync(real).flatMap((name) => listSources(join(path, name), [...above, real]));
  } catch (error) {
    // a broken link, or what has just disappeared
    if (/^(ENOENT|ENOTDIR|ELOOP)$/.test((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}
