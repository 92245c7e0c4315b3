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

interface Part {
  report: string;
  sources: string[];
  /** the hash of the sources that were served or had a mistake */
  seen: string;
  build: () => Promise<void>;
  isBusy?: boolean;
}

/** Serves changes of the sources, and the last code and template while a source has an error. @param env names the data folder */
export function serveChanges(env: NodeJS.ProcessEnv, service: Service): void {
  let { assembly } = service;
  // The name of the assembly is the hash of its sources: some can have changed during the start.
  const seen = (sources: string[]) => (basename(assembly) === hashSources() ? hashSources(sources) : "");
  let code: string | undefined;
  const functions: Part = {
    report: "The changed functions are",
    sources: functionSources,
    seen: seen(functionSources),
    build: async () => {
      const bundles = await bundleFunctions({ sourcemap: "inline", logLevel: "silent" });
      code = dataPath(env, "functions");
      await rm(code, { recursive: true, force: true });
      writeBundles(bundles, code);
    },
  };
  const template: Part = {
    report: "The changed template is",
    sources: templateSources,
    seen: seen(templateSources),
    build: async () => {
      assembly = await refreshAssembly(dataPath(env, "assembly"));
    },
  };

  /** Serves a part until its sources stop changing. @returns whether the last sources had no mistake */
  async function update(part: Part): Promise<boolean> {
    if (part.isBusy) return false;
    part.isBusy = true;
    let isServed = true;
    for (let hash = hashSources(part.sources); hash !== part.seen; hash = hashSources(part.sources)) {
      part.seen = hash;
      try {
        await part.build();
        await service.replace(readLocalStack(assembly, code));
        isServed = true;
        console.error(`${part.report} served.`);
      } catch (error) {
        isServed = false;
        console.error(`${part.report} not served. ${(error as Error).message}`);
      }
    }
    part.isBusy = false;
    return isServed;
  }
  // The functions first, because a synthesis takes seconds.
  const updateBoth = async () => (await update(functions)) && (await update(template));

  // Each folder, because the events of a file end when an editor replaces it. A change can have added folders.
  const watchers: FSWatcher[] = [];
  const watchFolders = () => {
    for (const watcher of watchers.splice(0)) watcher.close();
    for (const folder of globSync("{functions,infra,lib}/**/", { cwd: root }))
      watchers.push(watch(join(root, folder), onChange));
  };
  let timer: NodeJS.Timeout;
  const onChange = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      watchFolders();
      return updateBoth();
    }, PAUSE_MS);
  };
  onChange(); // what has changed meanwhile
  console.error("Watching functions/, infra/, lib/ for changes.");
}
