import { globSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import type { Json } from "./support/json.ts";

const read = (file: string) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));
const { allowScripts, ...manifest } = read("package.json");

const { "": _, ...locked } = read("package-lock.json").packages as Record<string, Json>;

it("pins exact versions", () => {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  for (const version of Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies }))
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});

it("decides for every install script whether it may run, and lets npm run no other", () => {
  const installing = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript);
  const scripts = installing.map(([path]) => path.replace(/^.*node_modules\//, ""));
  expect(scripts.filter((name) => typeof allowScripts[name] !== "boolean")).toEqual([]);
  expect(readFileSync(new URL("../.npmrc", import.meta.url), "utf8")).toMatch(/^strict-allow-scripts=true$/m);
});

it.each([
  ["infra/bundle/options.ts", /target: "node(\d+)"/g],
  ["package.json", /"(?:@types\/node|node-[\w-]+)": "(\d+)\./g],
  [".github/**/*.yml", /node-version: (\d+)/g],
  ["README.md", /installs Node (\d+)/g],
  ["docs/security.md", /the Node (\d+)/g],
  ["docs/aws-assumptions.md", /Lambda's Node\.js (\d+)/g],
])("names the Node that runs the functions in AWS: %s", (files, place) => {
  const root = new URL("../", import.meta.url);
  const text = (file: string) => readFileSync(new URL(file, root), "utf8");
  const [, version] = /NODEJS_(\d+)_X/.exec(text("infra/api-function.ts")) ?? [];
  const found = globSync(files, { cwd: root }).flatMap((file) => [...text(file).matchAll(place)]);
  expect([...new Set(found.map(([, named]) => named))]).toEqual([version]);
});
