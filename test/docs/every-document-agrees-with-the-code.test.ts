import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { anchorOf } from "../../infra/names.ts";
import { errors } from "../../lib/errors.ts";
import { API_VERSION, type Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";
import { documents as documentsWithFigures, withFigures } from "../generate/figures.ts";
import { codeBlocks } from "../support/code-blocks.ts";

const root = new URL("../../", import.meta.url);
const read = (file: string | URL) => readFileSync(new URL(file, root), "utf8");
const { scripts } = JSON.parse(read("package.json"));
const folders = globSync("*/", { cwd: root, withFileTypes: true }).map(({ name }) => name);

/** The anchors of a document's headings. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));

// CHANGELOG.md names what existed once.
const documents = globSync(["*.md", "{docs,emulator}/**/*.md"], { cwd: root, exclude: ["CHANGELOG.md"] });

it.each(documents)("%s names only files, sections and npm scripts that exist", (document) => {
  const text = read(document);
  const paths = [...text.matchAll(/`([\w.-]+\/[\w./-]+)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => folders.includes(path.split("/")[0] ?? "") && !/^(build|node_modules)\//.test(path));
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

it.each([...documents, ...globSync("examples/*.ts", { cwd: root })])(
  "%s has the version of the API in its URLs",
  (file) => {
    const versions = read(file).match(/(?<![a-z])\/v\d+\b/g) ?? []; // not that of a Go module
    expect(versions.filter((version) => version !== `/${API_VERSION}`)).toEqual([]);
  },
);

const programs = globSync(["*.md", "{cli,docs,emulator,examples,local}/**/*.{md,sh,ts}"], { cwd: root });
it.each(programs)("%s runs programs with local/node.sh, because npm can remove the link to Node", (file) => {
  expect(read(file)).not.toMatch(/\bnpx node\b|\.bin\/node\b/);
});

/** The commands that ask. They take the line that is pasted after them for the answer. */
const asking = /\bread -|cdk (deploy|destroy)|gh secret set/;

it.each(documents)("%s has blocks to paste into bash and zsh: only the last command asks", (document) => {
  for (const block of codeBlocks(read(document), "sh")) {
    const lines = block.trimEnd().replaceAll("\\\n", "").split("\n");
    expect(lines.slice(0, -1).filter((line) => asking.test(line))).toEqual([]);
    // Nobody can replace <id> before the paste with a value that an earlier line prints.
    const prints = lines.findIndex((line) =>
      /^(aws \S+ (list|describe)-|gh \w+ list|npx cdk diff)/.test(line.trim()),
    );
    if (prints >= 0) expect(lines.slice(prints).filter((line) => /<[a-z ]+>/.test(line))).toEqual([]);
    // At its prompt, zsh knows no comments, and splits no variable into words.
    const unquoted = lines.map((line) => line.replaceAll(/'[^']*'/g, "''"));
    expect(unquoted.filter((line) => /(^|\s)#|\bin \$\w/.test(line))).toEqual([]);
  }
});

const sources = "{.github,cli,docs,emulator,examples,functions,infra,lib,local,openapi,test}/**";
const files = globSync(["*", sources], { cwd: root }).map((file) => `/${file}`);

it("names only files that exist, in the comments of every source", () => {
  const missing = files.flatMap((file) => {
    const comments = /\.(js|mjs|sh|ts|yml)$/.test(file) ? read(file.slice(1)).match(/(\/\/|\*|#) .*/g) : [];
    const names = comments?.join("\n").match(/(?<![\w./:-])\w[\w./-]*\.(json|md|mjs|ts|yml)\b/g) ?? [];
    const absent = names.filter((name) => !files.some((other) => other.endsWith(`/${name}`)));
    return absent.map((name) => file + name);
  });
  expect(missing).toEqual([]);
});

it.each(documentsWithFigures)("%s has the figures that `npm run generate` writes", (document) => {
  expect(withFigures(document, read(document))).toBe(read(document));
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
  const texts = files.filter((file) => /\.(go|md|py|sh|toml|ts|yml)$/.test(file) && file !== "/CHANGELOG.md");
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

  it("says in rule 2.8 that no operation changes a pet, and others cite it", () => {
    // A deletion keeps the rule: a pet that is there is as it was created.
    const changing = operations.flatMap(({ id, method }: Operation) => (/PUT|PATCH/.test(method) ? id : []));
    const says = /^8\. No operation changes a pet/m.test(contract);
    const sources = ["README.md", "docs/**/*.md", "{cli,lib,test}/**/*.ts"];
    const citing = globSync(sources, { cwd: root, exclude: ["test/docs/**"] }).filter((file) =>
      /contract\s2\.8\b/.test(read(file)),
    );
    if (changing.length > 0)
      expect({ changing, says, citing }).toEqual({ changing, says: false, citing: [] });
    else expect({ says, citing }).toEqual({ says: true, citing: expect.arrayContaining(["README.md"]) });
  });
});
