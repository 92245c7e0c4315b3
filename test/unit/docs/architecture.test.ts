import { globSync, readFileSync } from "node:fs";
import { matchesGlob, posix } from "node:path";
import { expect, it } from "@jest/globals";
import { operations } from "../../../lib/operations.ts";

// The table of docs/architecture.md says what each folder can import. These tests enforce it.

const root = new URL("../../../", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), "utf8");

/** The folders, and what each can import: folders, files of this project, and packages. */
const rows = [...read("docs/architecture.md").matchAll(/^\| `([\w/]+\/)` +\|.*?\|(.*\|.*)\|$/gm)].map(
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

const files = globSync("{bench,cli,docs,examples,functions,infra,lib,local,openapi}/**/*.{ts,cjs,mjs}", {
  cwd: root,
});

it("every file imports only what the table allows", () => {
  expect(files.filter((file) => rowOf(file) === undefined)).toEqual([]);
  expect(files.flatMap((file) => violations(file, read(file)).map((name) => [file, name]))).toEqual([]);
});

const planted: [file: string, names: string[]][] = [
  ["functions/get-pet.ts", ["../infra/stages.ts", "aws-cdk-lib", "zod/mini", "@middy/core"]],
  ["lib/pet.ts", ["./dynamo/client.ts", "./http/json.ts", "@middy/core", "@aws-sdk/lib-dynamodb"]],
  ["lib/http/handler.ts", ["../dynamo/client.ts", "../../functions/get-pet.ts", "@aws-sdk/lib-dynamodb"]],
  ["lib/dynamo/client.ts", ["../http/json.ts", "../../infra/stages.ts", "@middy/core", "zod/mini"]],
  [
    "infra/animal-store-stack.ts",
    ["../functions/get-pet.ts", "../local/start.ts", "../lib/http/handler.ts", "zod"],
  ],
  [
    "infra/assembly/current.ts",
    ["../stack.ts", "../../local/start.ts", "../../functions/get-pet.ts", "aws-cdk-lib"],
  ],
  ["openapi/document.ts", ["../infra/stages.ts", "../local/start.ts", "aws-cdk-lib", "@middy/core"]],
  [
    "local/start.ts",
    ["../infra/animal-store-stack.ts", "../functions/get-pet.ts", "../cli/keys.ts", "aws-cdk-lib"],
  ],
  [
    "cli/keys.ts",
    ["../local/gateway/gateway.ts", "../infra/animal-store-stack.ts", "../functions/get-pet.ts", "zod"],
  ],
  [
    "bench/run.ts",
    ["../local/gateway/gateway.ts", "../infra/animal-store-stack.ts", "../cli/keys.ts", "@middy/core"],
  ],
  ["docs/figures.ts", ["../infra/animal-store-stack.ts", "../bench/run.ts", "../lib/http/handler.ts", "zod"]],
  ["examples/client.ts", ["../lib/pet.ts", "undici"]],
];

it.each(planted)("%s cannot import %j, nor a test", (file, names) => {
  for (const name of [...names, posix.relative(posix.dirname(file), "test/support/event.ts")]) {
    expect(violations(file, `import type { X } from "${name}";`)).toEqual([name]);
    expect(violations(file, `const x = await import("${name}");`)).toEqual([name]);
  }
});

it("has a planted violation for each row", () => {
  expect(new Set(planted.map(([file]) => rowOf(file)))).toEqual(new Set(rows));
});

it.each(operations)("the diagram of a request in AWS has $id", ({ id, method, path }) => {
  const route = `gateway -->|${method} ${path.replaceAll(/[{}]/g, "")}| `;
  expect(read("docs/architecture.md")).toMatch(new RegExp(`${RegExp.escape(route)}\\w+\\[${id}\\]\n`));
});

it("every unit test mirrors a source: a file, a folder or a document", () => {
  const tests = globSync("test/unit/**/*.test.ts", { cwd: root });
  const sources = tests.map((file) => file.replace(/^test\/unit\/(.*)\.test\.ts$/, "$1"));
  expect(sources.length).toBeGreaterThan(0);
  const without = sources.filter((name) => globSync(`{,.github/}${name}{,.*}`, { cwd: root }).length === 0);
  expect(without).toEqual([]);
});
