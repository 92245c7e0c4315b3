import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { anchorOf } from "../../infra/names.ts";
import { errors } from "../../lib/errors.ts";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { withLimits } from "../../tools/generate/limits.ts";

const root = new URL("../../", import.meta.url);
const read = (file: string | URL) => readFileSync(new URL(file, root), "utf8");
const { scripts } = JSON.parse(read("package.json"));
const folders = globSync("*/", { cwd: root, withFileTypes: true }).map(({ name }) => name);

/** The anchors of a document's headings. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));

// CHANGELOG.md names what existed once.
const documents = globSync(["*.md", "{docs,tools}/**/*.md"], { cwd: root, exclude: ["CHANGELOG.md"] });

it.each(documents)("%s names only files, sections and npm scripts that exist", (document) => {
  const text = read(document);
  const code = text.match(/^ *```.*?^ *```$|`[^`]+`/gms) ?? [];
  const paths = code
    .flatMap((part) => part.match(/(?<![\w./-])[\w.-]+\/[\w./-]+/g) ?? [])
    .filter(
      (path) => folders.includes(path.split("/")[0] ?? "") || /\/$|\.(ts|js|mjs|sh|md|json|yml)$/.test(path),
    )
    .filter((path) => !/^(build|node_modules|BASE_URL|\.)\//.test(path));
  const links = [...text.matchAll(/\]\((?!https?:)([^)]+)/g)].map(
    ([, link = ""]) => new URL(link, new URL(document, root)),
  );
  const exists = (file: URL) =>
    existsSync(file) && (file.hash === "" || anchorsOf(read(file)).includes(file.hash.slice(1)));
  const missing = [...paths.map((path) => new URL(path, root)), ...links].filter((file) => !exists(file));
  expect(missing.map(({ pathname, hash }) => pathname + hash)).toEqual([]);
  const commands = [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name = ""]) => name);
  expect(commands.filter((name) => !(name in scripts))).toEqual([]);
});

const sources = "{.github,docs,examples,functions,infra,lib,openapi,test,tools}/**";
const files = globSync(["*", sources], { cwd: root }).map((file) => `/${file}`);

it("README.md has the limits that `npm run generate` writes", () => {
  expect(withLimits(read("README.md"))).toBe(read("README.md"));
});

it("README.md lists every error code with its status", () => {
  const rows = [...read("README.md").matchAll(/\| (\d{3}) +\| `(\w+)`/g)].map(
    ([, status, code]) => `${code} ${status}`,
  );
  expect(rows).toEqual(Object.entries(errors).map(([code, { status }]) => `${code} ${status}`));
});

describe("docs/contract.md", () => {
  const contract = read("docs/contract.md");

  it.each<Operation>(operations)("has the rules of $id", ({ id, method, path, deprecation }) => {
    const heading = `${id}: \`${method} ${path}\`${deprecation ? ", deprecated" : ""}`;
    expect(contract.split("\n").map((line) => line.replace(/^## \d+\. /, ""))).toContain(heading);
  });

  /** The sections and rules, such as `4` and `4.3`. */
  const rules = contract
    .split(/^## (?=\d)/m)
    .slice(1)
    .flatMap((section) => {
      const number = Number.parseInt(section, 10);
      return [`${number}`, ...[...section.matchAll(/^(\d+)\. /gm)].map(([, rule]) => `${number}.${rule}`)];
    });
  const texts = files.filter((file) => /\.(md|sh|ts|yml)$/.test(file) && file !== "/CHANGELOG.md");
  /** The rules that a text cites, as in "contract 4.3 and 4.5" or, in the documents, "(4.3)". */
  const citedIn = (file: string): string[] => {
    const text = read(file.slice(1)).replaceAll(/\n *(\*|\/\/|#)? */g, " ");
    const lists = text.match(/\b(contract|rule)(\.md`?)?,? \(?\d[\d.]*((,| and| to| or) \d[\d.]*)*/g) ?? [];
    const short = file.startsWith("/docs/") ? text.match(/\(\d\.\d\)/g) : [];
    return [...lists, ...(short ?? [])].join().match(/\d+(\.\d+)?/g) ?? [];
  };

  it("has each rule that a source, a test or a document cites", () => {
    const cited = texts.flatMap((file) => citedIn(file).map((rule) => ({ file, rule })));
    expect(cited).not.toEqual([]);
    expect(cited.filter(({ rule }) => !rules.includes(rule))).toEqual([]);
  });
});
