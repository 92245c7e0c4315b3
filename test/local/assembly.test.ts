import * as files from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, jest } from "@jest/globals";
import { preload } from "../support/preload.ts";

let changed = "nothing";
let missing = "nothing";
let onMkdir = () => {};
beforeEach(() => {
  changed = missing = "nothing";
  onMkdir = () => {};
});
jest.unstable_mockModule("node:fs/promises", () => ({
  ...files,
  readFile: async (file: string) =>
    file.endsWith(missing)
      ? Promise.reject()
      : `${Number(file.endsWith(changed))}${await files.readFile(file)}`, // of the same length
  mkdir: (...args: Parameters<typeof files.mkdir>) => {
    onMkdir();
    return files.mkdir(...args);
  },
}));
const { refreshAssembly, hashSources, templateFolders } = await import("../../local/assembly.ts");
const { synthesize } = await import("../../infra/synthesize.ts");
const emptyFolder = () => files.mkdtempDisposable(join(tmpdir(), "animal-store-assembly-"));

it.each([
  "/functions/get-pet.ts",
  "/infra/bundle/lambda-entry.mjs",
  "/lib/http/json.ts",
  "/cdk.json",
  "/package.json",
  "/package-lock.json",
  "/node_modules/.package-lock.json",
  "/tsconfig.json",
])("a change of %s makes another assembly, and another template unless it is in functions/", async (file) => {
  const hashes = () => Promise.all([hashSources(), hashSources(templateFolders)]);
  const [assembly, template] = await hashes();
  expect(await hashes()).toEqual([assembly, template]);
  changed = file;
  const after = await hashes();
  expect(after[0]).not.toBe(assembly);
  if (file.startsWith("/functions/")) expect(after[1]).toBe(template);
  else expect(after[1]).not.toBe(template);
});

it("a change of what a link names makes another assembly, also beside broken links", async () => {
  await using folder = await emptyFolder();
  await using elsewhere = await emptyFolder();
  const links = { linked: elsewhere.path, circle: ".", "broken.ts": "nowhere", "loop.ts": "loop.ts" };
  for (const [name, target] of Object.entries(links)) await files.symlink(target, join(folder.path, name));
  const hashes = new Set<string>();
  for (const text of ["old", "new"]) {
    await files.writeFile(join(elsewhere.path, "x.ts"), text);
    hashes.add(await hashSources([folder.path]));
  }
  expect(hashes.size).toBe(2);
});

it("a package file that npm did not write counts as empty", async () => {
  missing = "/node_modules/.package-lock.json";
  expect(await hashSources()).toMatch(/^[\da-f]{32}$/);
});

it("another version of Node.js makes another assembly", async () => {
  const before = await hashSources();
  const version = Object.getOwnPropertyDescriptor(process, "version") ?? {};
  Object.defineProperty(process, "version", { ...version, value: "v0.0.0" });
  const after = await hashSources();
  Object.defineProperty(process, "version", version);
  expect(after).not.toBe(before);
});

it("ends a synthesis that is cancelled", async () => {
  await using folder = await emptyFolder();
  await expect(refreshAssembly(folder.path, { signal: AbortSignal.abort() })).rejects.toThrow("aborted");
});

it("reports what a synthesis that fails has printed", async () => {
  await using folder = await emptyFolder();
  const { NODE_OPTIONS } = process.env;
  process.env.NODE_OPTIONS = "--import=data:text/javascript,console.log('A%20finding.');process.exit(1)";
  const failure = await synthesize(folder.path).catch((error) => error);
  process.env.NODE_OPTIONS = NODE_OPTIONS ?? "";
  expect(failure).toEqual(new Error("The CDK app failed:\nA finding."));
});

it("synthesizes again, under another name, when the sources change during the synthesis", async () => {
  await using folder = await emptyFolder();
  const { NODE_OPTIONS } = process.env;
  process.env.NODE_OPTIONS = preload("process.exit()");
  onMkdir = () => {
    changed = "/lib/errors.ts";
  };
  await refreshAssembly(folder.path);
  process.env.NODE_OPTIONS = NODE_OPTIONS ?? "";
  expect(await files.readdir(folder.path)).toEqual([await hashSources()]);
});

it("keeps the assembly of the current sources, and removes all others and nothing else", async () => {
  await using folder = await emptyFolder();
  const current = await hashSources();
  for (const name of [current, `${current}.draft`, "1".repeat(32), "others"])
    await files.mkdir(join(folder.path, name));
  expect(await refreshAssembly(folder.path)).toBe(join(folder.path, current));
  expect((await files.readdir(folder.path)).sort()).toEqual([current, "others"]);
});
