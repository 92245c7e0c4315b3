import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";

const root = new URL("../../", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), "utf8");
const { scripts } = JSON.parse(read("package.json"));
const folders = globSync("*/", { cwd: root, withFileTypes: true }).map(({ name }) => name);

// CHANGELOG.md names what existed once.
const documents = globSync(["*.md", "docs/**/*.md"], { cwd: root, exclude: ["CHANGELOG.md"] });

it.each(documents)("%s names only files and npm scripts that exist", (document) => {
  const text = read(document);
  const paths = [...text.matchAll(/`([\w.-]+\/[\w./-]+)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => folders.includes(path.split("/")[0] ?? "") && !path.startsWith("build/"));
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
    ([, path]) => new URL(path ?? "", new URL(document, root)),
  );
  const missing = [...paths.map((path) => new URL(path, root)), ...links].filter((file) => !existsSync(file));
  expect(missing.map(({ pathname }) => pathname)).toEqual([]);
  const commands = [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name = ""]) => name);
  expect(commands.filter((name) => !(name in scripts))).toEqual([]);
});
