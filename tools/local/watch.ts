import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { bundleFunctions, writeBundles } from "../../infra/bundle/bundles.ts";
import type { StackDefinition } from "../emulator/template/template.ts";
import { buildStack } from "./assembly.ts";
import { dataPath } from "./data-folder.ts";
import type { Service } from "./serve.ts";

/** How often the sources are compared, in milliseconds. It takes 2 ms, and sees a change on every file system. */
const PAUSE_MS = 250;

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Returns a hash of every file below folders of this checkout. Editors leave files with a dot at the start of their name. */
function hashFiles(folders: string): string {
  const hash = createHash("sha256");
  const options = { cwd: root, followSymlinks: true, exclude: ["**/node_modules"] };
  for (const file of globSync(`${folders}/**/[!.]*`, options).sort())
    try {
      const path = join(root, file);
      // The time, too: a build can have read a change that is undone.
      hash.update(readFileSync(path)).update(`\0${file}\0${statSync(path).ctimeMs}`);
    } catch {} // a folder, or a file that has gone
  return hash.digest("base64");
}

/**
 * Remembers the sources, so that changes during the start are served.
 *
 * @param env names the data folder
 * @returns a function that serves changes, and the last code and template while a source has an error
 */
export function rememberSources(env: NodeJS.ProcessEnv): (service: Service) => Promise<never> {
  let template: StackDefinition;
  const code = dataPath(env, "functions");
  const removeCode = () => rm(code, { recursive: true, force: true });
  const buildFunctions = async () => {
    const bundles = await bundleFunctions({ sourcemap: "inline", logLevel: "silent" });
    await removeCode();
    writeBundles(bundles, code);
  };
  const buildTemplate = async () => {
    template = await buildStack(dataPath(env, "assembly"));
  };
  // The functions first, because a synthesis takes seconds.
  const parts = [
    { name: "functions are", folders: "{functions,lib,infra/bundle}", build: buildFunctions },
    { name: "template is", folders: "{infra,lib}", build: buildTemplate },
  ].map((part) => ({ ...part, served: hashFiles(part.folders) }));
  /** The last template with the last code. A function whose source has gone keeps the code of the template. */
  const newest = (): StackDefinition => ({
    ...template,
    functions: template.functions.map((fn) => {
      const own = join(code, basename(fn.code));
      return existsSync(own) ? { ...fn, code: own } : fn;
    }),
  });
  const all = "{functions,infra,lib}";
  let seen = hashFiles(all);

  return async ({ stack, replace }) => {
    template = stack;
    await removeCode(); // of an earlier start
    console.error("Watching functions/, infra/, lib/ for changes.");
    for (; ; await setTimeout(PAUSE_MS)) {
      const now = hashFiles(all);
      if (now === seen) continue;
      seen = now;
      for (const part of parts) {
        const hash = hashFiles(part.folders);
        if (hash === part.served) continue;
        part.served = ""; // until it is
        let isBuilt = false;
        try {
          await part.build();
          isBuilt = true;
          await replace(newest());
          part.served = hash;
          console.error(`The changed ${part.name} served.`);
        } catch (error) {
          console.error(`The changed ${part.name} not served. ${(error as Error).message}`);
          if (!isBuilt) break; // a synthesis would have the same error
        }
      }
    }
  };
}
