import { globSync, readFileSync } from "node:fs";
import { matchesGlob, posix } from "node:path";
import { expect, it } from "@jest/globals";

// The list of docs/architecture.md says what each folder can import. These tests enforce it.

const root = new URL("../../", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), "utf8");

const list = read("docs/architecture.md").replaceAll("\n  ", " "); // each entry in one line
/** The folders, and what each can import: folders, files of this project, and packages. */
const rows = [...list.matchAll(/^- `([\w/]+\/)`: .* Imports: (.*)\.$/gm)].map(
  ([, folder = "", imports = ""]) => ({
    folder,
    allowed: [...imports.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  }),
);

/** The row of a file: the one with the longest folder. */
const rowOf = (file: string) =>
  rows.filter(({ folder }) => file.startsWith(folder)).sort((a, b) => b.folder.length - a.folder.length)[0];

const allows = (name: string, target: string) =>
  target === name || matchesGlob(target, name) || (name.endsWith("/") && target.startsWith(name));

/**
 * Returns what a file imports but cannot import. Everything can import the built-in modules of Node.js, and the types of
 * Lambda's events, which have no code.
 */
function violations(file: string, source: string): string[] {
  const row = rowOf(file);
  return [...source.matchAll(/\b(?:from|import) ?\(?"(?!node:)([^"]+)"/g)]
    .map(([, name = ""]) => name)
    .filter((name) => {
      if (!name.startsWith(".")) {
        const [packageName = ""] = /^(@[^/]+\/)?[^/]+/.exec(name) ?? [];
        return packageName !== "aws-lambda" && !row?.allowed.some((allowed) => allows(allowed, packageName));
      }
      const target = posix.join(posix.dirname(file), name);
      return rowOf(target) !== row && !row?.allowed.some((allowed) => allows(allowed, target));
    });
}

const folders = "{cli,emulator,examples,functions,infra,lib,local,openapi}";
const files = globSync(`${folders}/**/*.{ts,cjs,mjs}`, { cwd: root });

it("every file imports only what the list allows", () => {
  expect(files.filter((file) => rowOf(file) === undefined)).toEqual([]);
  expect(files.flatMap((file) => violations(file, read(file)).map((name) => [file, name]))).toEqual([]);
});

it("notices what each row does not allow", () => {
  for (const { folder } of rows)
    for (const name of ["left-pad", posix.relative(folder, "test/support/event.ts")])
      for (const source of [`import type { X } from "${name}";`, `const x = await import("${name}");`])
        expect(violations(`${folder}x.ts`, source)).toEqual([name]);
});

/** Returns the folders that can import themselves through another one that neither contains nor is contained. */
function inCircles(table: typeof rows): string[] {
  const folders = table.map(({ folder }) => folder);
  const isApart = (one: string, other: string) => !one.startsWith(other) && !other.startsWith(one);
  const importedBy = (folder: string, found = new Set<string>()): Set<string> => {
    const allowed = table.find((row) => row.folder === folder)?.allowed ?? [];
    for (const name of allowed) {
      const [target] = folders.filter((one) => name.startsWith(one)).toSorted((a, b) => b.length - a.length);
      if (target && isApart(target, folder) && !found.has(target)) importedBy(target, found.add(target));
    }
    return found;
  };
  return folders.filter((folder) => importedBy(folder).has(folder));
}

it("no folder imports itself through another one that neither contains nor is contained", () => {
  expect(inCircles(rows)).toEqual([]);
  for (const [folder = "", name = ""] of [
    ["openapi/", "cli/run-program.ts"],
    ["infra/api/", "infra/monitoring/alarms.ts"],
  ])
    expect(
      inCircles([...rows.filter((row) => row.folder !== folder), { folder, allowed: [name] }]),
    ).toContain(folder);
});

it("every test has the name of its source, or begins with `every` as a rule over many sources", () => {
  const tests = globSync("test/**/*.test.ts", { cwd: root, exclude: ["test/contract/*"] });
  const sources = tests.map((file) => file.replace(/^test\/(.*?)(\.integration)?\.test\.ts$/, "$1"));
  expect(sources.length).toBeGreaterThan(0);
  const ownSource = (name: string) =>
    globSync(`{,.github/,test/,test/contract/}${name}.{ts,cjs,mjs,json,md,sh}`, { cwd: root });
  const without = sources.filter((name) => !/(^|\/)every-[^/]+$/.test(name) && ownSource(name).length === 0);
  expect(without).toEqual([]);
});
