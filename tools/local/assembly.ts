import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { appendFile, glob, mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { entryOfOutput } from "../../infra/names.ts";
import { localStage, servedStackName } from "../../infra/stages.ts";
import { readStack, type StackDefinition } from "../emulator/template/template.ts";
import { synthesize } from "./synthesize.ts";

/** This checkout, with a slash at its end. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

// Patterns of what determines an assembly. Editors leave files with a dot at the start of their name.
const packages = "{cdk,tsconfig,package,package-lock,node_modules/.package-lock}.json";
export const templateSources = [packages, "{infra,lib}/**/[!.]*.{ts,mjs}"];
export const functionSources = [packages, "{functions,lib,infra/bundle}/**/[!.]*.{ts,mjs}"];

/** Returns a hash of files of this checkout. @param patterns of their paths */
export function hashSources(patterns = [...templateSources, ...functionSources]): string {
  const hash = createHash("sha256");
  for (const file of globSync(patterns, { cwd: root }).sort())
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex").slice(0, 32);
}

/**
 * Returns the assembly of the current sources. It synthesizes the assembly only if the folder does not have it yet, and
 * removes everything else from the folder.
 *
 * @param folder where assemblies are kept; the name of an assembly is the hash of its sources
 * @returns the folder of the assembly
 * @throws Error with the CDK app's output when it fails
 */
export async function refreshAssembly(folder: string): Promise<string> {
  const sources = hashSources();
  const assembly = join(folder, sources);
  if (!existsSync(assembly)) {
    if (process.stderr.isTTY) console.error("Synthesizing the template and bundling the functions ...");
    // The draft is renamed when it is complete, so that an interrupted synthesis is never served.
    const draft = `${assembly}.draft`;
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { recursive: true });
    await synthesize(draft);
    // With these references, errors have positions in the sources. What `cdk deploy` ships is a copy without them.
    for await (const map of glob("bundles/*.js.map", { cwd: draft }))
      await appendFile(
        join(draft, map.replace(".js.map", "/index.cjs")),
        `//# sourceMappingURL=../${basename(map)}\n`,
      );
    // Sources that changed meanwhile need an assembly with another name.
    if (hashSources() !== sources) return refreshAssembly(folder);
    await rename(draft, assembly);
  }
  for (const name of await readdir(folder))
    if (name !== sources) await rm(join(folder, name), { recursive: true, force: true });
  return assembly;
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
