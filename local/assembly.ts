import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, glob, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readStack, type StackDefinition } from "../emulator/template/template.ts";
import { entryOfOutput } from "../infra/names.ts";
import { localStage, servedStackName } from "../infra/stages.ts";
import { synthesize } from "../infra/synthesize.ts";
import { assemblyFolder } from "./data-folder.ts";
import { listSources } from "./sources.ts";

/** This checkout, with a slash at its end. */
export const root = fileURLToPath(new URL("../", import.meta.url));

/** The folders that determine the template. */
export const templateFolders = ["infra", "lib"].map((name) => join(root, name));
/** The folders that determine the assembly. */
export const sourceFolders = [join(root, "functions"), ...templateFolders];
/** The other inputs of a synthesis. npm rewrites its lock file in node_modules whenever it changes that folder. */
const otherInputs = [
  "cdk.json",
  "package.json",
  "package-lock.json",
  "node_modules/.package-lock.json",
  "tsconfig.json",
];

/** What hashSources returns, and the draft of an assembly. */
const assemblyName = /^[0-9a-f]{32}(\.draft)?$/;

/**
 * Returns the assembly of the current sources. It synthesizes the assembly only if the folder does not have it yet, and
 * removes the assemblies of other sources, and nothing else.
 *
 * @param folder where assemblies are kept; the name of an assembly is the hash of its sources
 * @param options of the synthesis
 * @returns the folder of the assembly
 * @throws Error with the CDK app's output when it fails
 */
export async function refreshAssembly(
  folder: string,
  options: Parameters<typeof synthesize>[1] = {},
): Promise<string> {
  const sources = await hashSources();
  const assembly = join(folder, sources);
  if (!existsSync(assembly)) {
    if (process.stderr.isTTY) console.error("Synthesizing the template and bundling the functions ...");
    // The draft is renamed when it is complete, so that an interrupted synthesis is never served.
    const draft = `${assembly}.draft`;
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { recursive: true });
    await synthesize(draft, options);
    // With these references, errors have positions in the sources. What `cdk deploy` ships is a copy without them.
    for await (const map of glob("bundles/*.js.map", { cwd: draft }))
      await appendFile(
        join(draft, map.replace(".js.map", "/index.cjs")),
        `//# sourceMappingURL=../${basename(map)}\n`,
      );
    // Sources that changed meanwhile need an assembly with another name.
    if ((await hashSources()) !== sources) return refreshAssembly(folder, options);
    await rename(draft, assembly);
  }
  for (const name of await readdir(folder)) {
    const other = join(folder, name);
    if (assemblyName.test(name) && other !== assembly) await rm(other, { recursive: true, force: true });
  }
  return assembly;
}

/** Returns the name of the current assembly: a hash of every file and version that the synthesis reads, in these folders. */
export async function hashSources(folders = sourceFolders): Promise<string> {
  const sources = folders.flatMap((folder) => listSources(folder));
  const files = [...otherInputs.map((name) => join(root, name)), ...sources];
  const hash = createHash("sha256").update(process.version);
  for (const file of files.sort()) {
    const content = await readFile(file).catch(() => ""); // a package file that npm did not write
    hash.update(`\0${file.slice(root.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex").slice(0, 32);
}

/**
 * Reads the stack that the local service serves.
 *
 * @param assembly what refreshAssembly returns
 * @param code has a folder for each file of functions/. By default, the folder that the CDK app makes the assets from, beside
 *   their source maps
 */
export function readLocalStack(assembly: string, code = join(assembly, "bundles")): StackDefinition {
  const stack = readStack(assembly, servedStackName);
  const outputOf = new Map(Object.entries(stack.outputs).map(([output, value]) => [value, output]));
  const functions = stack.functions.map(({ environment, ...fn }) => ({
    ...fn,
    code: join(code, entryOfOutput(outputOf.get(fn.name) ?? "")),
    // The only value of the template that is replaced, so that keys of the local service are valid only here.
    environment: "STAGE" in environment ? { ...environment, STAGE: localStage.name } : environment,
  }));
  return { ...stack, functions };
}

/**
 * Returns the stack of the current sources, and synthesizes it if they have changed.
 *
 * @param env names the data folder
 * @param options.code see readLocalStack
 * @throws Error with the CDK app's output when it fails
 */
export const currentStack = async (env: NodeJS.ProcessEnv, options: { signal: AbortSignal; code?: string }) =>
  readLocalStack(await refreshAssembly(assemblyFolder(env), options), options.code);
