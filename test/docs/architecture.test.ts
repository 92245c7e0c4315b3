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
 * Returns what a file imports but cannot import. All that import something can import the built-in modules of Node.js, and
 * the types of Lambda's events, which have no code.
 */
function violations(file: string, source: string): string[] {
  const row = rowOf(file);
  return [...source.matchAll(/\b(?:from|import) ?\(?"([^"]+)"/g)]
    .map(([, name = ""]) => name)
    .filter((name) => {
      if (name.startsWith("node:")) return false;
      if (!name.startsWith(".")) {
        const [packageName = ""] = /^(@[^/]+\/)?[^/]+/.exec(name) ?? [];
        return packageName !== "aws-lambda" && !row?.allowed.some((allowed) => allows(allowed, packageName));
      }
      const target = posix.join(posix.dirname(file), name);
      return rowOf(target) !== row && !row?.allowed.some((allowed) => allows(allowed, target));
    });
}

const folders = "{examples,functions,infra,lib,openapi,tools}";
const files = globSync(`${folders}/**/*.{ts,cjs,mjs}`, { cwd: root });

it("every file imports only what the list allows", () => {
  expect(files.filter((file) => rowOf(file) === undefined)).toEqual([]);
  expect(files.flatMap((file) => violations(file, read(file)).map((name) => ({ file, name })))).toEqual([]);
});

it("every test has the name of its source, or begins with `every`", () => {
  const tests = globSync("test/**/*.test.ts", { cwd: root, exclude: ["test/contract/*"] });
  const sources = tests.map((file) => file.replace(/^test\/(.*?)(\.integration)?\.test\.ts$/, "$1"));
  expect(sources.length).toBeGreaterThan(0);
  const ownSource = (name: string) =>
    globSync(`{,.github/,test/,test/contract/}${name}.{ts,cjs,mjs,json,md,sh}`, { cwd: root });
  const without = sources.filter((name) => !/(^|\/)every-[^/]+$/.test(name) && ownSource(name).length === 0);
  expect(without).toEqual([]);
});
