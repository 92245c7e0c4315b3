import { type FSWatcher, globSync, watch } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { bundleFunctions, writeBundles } from "../../infra/bundle/bundles.ts";
import {
  functionSources,
  hashSources,
  readLocalStack,
  refreshAssembly,
  root,
  templateSources,
} from "./assembly.ts";
import { dataPath } from "./data-folder.ts";
import type { Service } from "./serve.ts";

/** Editors write a file in several steps: the last one counts. In milliseconds. */
const PAUSE_MS = 100;

/** Serves changes of the sources, and the last code and template while a source has an error. @param env names the data folder */
export function serveChanges(env: NodeJS.ProcessEnv, service: Service): void {
  let { assembly } = service;
  let code: string | undefined;

  /** Returns a function that serves sources if they have changed, and resolves to whether it can. */
  function updater(report: string, sources: string[], build: () => Promise<void>) {
    // The name of the assembly is the hash of its sources: some can have changed during the start. Empty after a mistake.
    let served = basename(assembly) === hashSources() ? hashSources(sources) : "";
    return async () => {
      try {
        const hash = hashSources(sources);
        if (hash === served) return true;
        await build();
        await service.replace(readLocalStack(assembly, code));
        served = hash;
        console.error(`${report} served.`);
        return true;
      } catch (error) {
        served = "";
        console.error(`${report} not served. ${(error as Error).message}`);
        return false;
      }
    };
  }
  const updateFunctions = updater("The changed functions are", functionSources, async () => {
    const bundles = await bundleFunctions({ sourcemap: "inline", logLevel: "silent" });
    code = dataPath(env, "functions");
    await rm(code, { recursive: true, force: true });
    writeBundles(bundles, code);
  });
  const updateTemplate = updater("The changed template is", templateSources, async () => {
    assembly = await refreshAssembly(dataPath(env, "assembly"));
  });
  // The functions first, because a synthesis takes seconds. One change after the other, so that the last one counts.
  let last = Promise.resolve();
  const updateBoth = async () => void ((await updateFunctions()) && (await updateTemplate()));

  // Each folder, because the events of a file end when an editor replaces it. A change can have added folders.
  const watchers: FSWatcher[] = [];
  const watchFolders = () => {
    for (const watcher of watchers.splice(0)) watcher.close();
    for (const folder of globSync("{functions,infra,lib}/**/", { cwd: root }))
      try {
        watchers.push(watch(join(root, folder), onChange));
      } catch (error) {
        console.error(`${folder} is not watched. ${(error as Error).message}`);
      }
  };
  let timer: NodeJS.Timeout;
  const onChange = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      watchFolders();
      last = last.then(updateBoth);
    }, PAUSE_MS);
  };
  onChange(); // what has changed meanwhile
  console.error("Watching functions/, infra/, lib/ for changes.");
}
