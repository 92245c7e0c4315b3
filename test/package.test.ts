import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { expect, it } from "@jest/globals";
import { parse } from "yaml";
import type { Json } from "./support/json.ts";

const read = (file: string) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));
const { scripts, allowScripts, ...manifest } = read("package.json");

const { "": _, ...locked } = read("package-lock.json").packages as Record<string, Json>;
/** The packages with a field, by their names. A package that is part of another one (inBundle) has that one's checksum. */
const named = (has: (entry: Json) => unknown) =>
  Object.entries(locked)
    .filter(([, entry]) => !entry.inBundle && has(entry))
    .map(([path]) => path.replace(/^.*node_modules\//, ""));

it("gives the tests no variable that git or AWS reads", () => {
  const script = 'await import("./jest.config.js"); console.log(Object.keys(process.env).join())';
  const user = { GIT_DIR: "/x", GIT_INDEX_FILE: "/x", GIT_AUTHOR_NAME: "x", AWS_PROFILE: "x", KEPT: "x" };
  const args = ["--experimental-vm-modules", "--input-type=module", "--eval", script];
  const names = execFileSync(process.execPath, args, { env: user, encoding: "utf8" }).trim().split(",");
  expect(names.filter((name) => name in user)).toEqual(["KEPT"]);
});

it("pins exact versions", () => {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  for (const version of Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies }))
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});

it("locks every package that Linux can install by its SHA-512, and none from elsewhere", () => {
  const installable = ({ os = ["linux"], cpu = ["x64"], libc = ["glibc"] }: Json) =>
    os.includes("linux") && libc.includes("glibc") && cpu.some((name: string) => /^(x64|arm64)$/.test(name));
  const unchecked = ({ integrity = "" }: Json) => !/^sha512-.{86}==$/.test(integrity);
  expect(named((entry) => unchecked(entry) && (installable(entry) || !entry.optional))).toEqual([]);
  expect(named(({ resolved, link }) => resolved ?? link)).toEqual([]);
});

it("decides for every install script whether it may run, and lets npm run no other", () => {
  const scripts = named(({ hasInstallScript }) => hasInstallScript);
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

it("updates the packages of Node together, and no major version before Lambda has it", () => {
  const file = readFileSync(new URL("../.github/dependabot.yml", import.meta.url), "utf8");
  const [{ groups, ignore }]: Json[] = parse(file).updates;
  const names = Object.keys({ ...manifest.devDependencies, ...manifest.optionalDependencies });
  const ignored = ignore.filter((one: Json) => one["update-types"].join() === "version-update:semver-major");
  const patterns: string[][] = [groups.node.patterns, ignored.map((one: Json) => one["dependency-name"])];
  const missing = names
    .filter((name) => /^(@types\/node$|node-)/.test(name))
    .filter((name) => !patterns.every((some) => some.some((one) => matchesGlob(name, one))));
  expect(missing).toEqual([]);
});

it("checks the types and the rules of Biome before the tests run", () => {
  expect(scripts.test).toMatch(/^npm run check && /);
});
