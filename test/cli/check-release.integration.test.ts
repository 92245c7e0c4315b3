import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "@jest/globals";

const root = fileURLToPath(new URL("../../", import.meta.url));
const section = "### Added\n\n- Animals have a colour.\n\n### Fixed\n\n- A fault.";
const old = "## 1.9.0 - 2026-11-21\n\n- The first entry.\n";

const env = {
  ...process.env,
  // Neither the configuration of this machine nor its npm cache.
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  npm_config_userconfig: "/dev/null",
  npm_config_cache: ".git/npm",
  npm_config_update_notifier: "false",
  NODE_DISABLE_COMPILE_CACHE: "1", // npm would leave it in the folder of temporary files
};

let cwd: string;
const git = (...args: string[]) => execFileSync("git", args, { cwd, env, encoding: "utf8" }).trim();
const npmVersion = (version: string) =>
  spawnSync("npm", ["version", version], { cwd, env, encoding: "utf8" });
const read = (file: string) => fs.readFileSync(join(cwd, file), "utf8");
const write = (file: string, text: string) => fs.writeFileSync(join(cwd, file), text);
const today = () => new Date().toISOString().slice(0, 10);

/** Makes a repository with what a release reads of this checkout, at version 1.9.0. */
beforeEach(() => {
  cwd = fs.mkdtempSync(join(tmpdir(), "animal-store-release-"));
  for (const source of ".npmrc package.json package-lock.json openapi.json openapi lib cli local".split(" "))
    fs.cpSync(join(root, source), join(cwd, source), { recursive: true });
  for (const file of ["package.json", "package-lock.json"])
    write(file, read(file).replace(/"version": "[^"]+"/, '"version": "1.9.0"'));
  write("CHANGELOG.md", `# Changelog\n\n## Unreleased\n\n${section}\n\n${old}`);
  write(".gitignore", "node_modules\n");
  fs.symlinkSync(join(root, "node_modules"), join(cwd, "node_modules"));
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Tester");
  git("config", "user.email", "tester@example.com");
  git("add", "--all");
  git("commit", "--quiet", "--message", "First");
});
afterEach(() => fs.rmSync(cwd, { recursive: true }));

it("dates the section, sets the version everywhere, commits and tags", () => {
  const days = [today()];
  expect(npmVersion("1.10.0")).toMatchObject({ status: 0 });
  days.push(today());
  const changelogs = days.map(
    (day) => `# Changelog\n\n## Unreleased\n\n## 1.10.0 - ${day}\n\n${section}\n\n${old}`,
  );
  expect(changelogs).toContain(read("CHANGELOG.md"));
  const [manifest, lock, document] = ["package.json", "package-lock.json", "openapi.json"].map((file) =>
    JSON.parse(read(file)),
  );
  for (const { version } of [manifest, lock, lock.packages[""], document.info])
    expect(version).toBe("1.10.0");
  expect(git("log", "-1", "--format=%s", "--name-only")).toBe(
    "Release 1.10.0\n\nCHANGELOG.md\nopenapi.json\npackage-lock.json\npackage.json",
  );
  expect(git("status", "--porcelain")).toBe("");
  expect(git("rev-parse", "v1.10.0^{commit}")).toBe(git("rev-parse", "main"));
});

const empty = () => {
  write("CHANGELOG.md", `# Changelog\n\n## Unreleased\n\n### Added\n\n${old}`);
  git("commit", "--quiet", "--all", "--message", "Change");
};

it.each<[string, () => unknown, string]>([
  ["a changed file", () => write("openapi.json", "{}\n"), "Git working directory not clean."],
  ["an untracked file", () => write("new.txt", ""), "\nCommit or remove your changes first.\n"],
  ["another branch", () => git("checkout", "--quiet", "-b", "x"), "\nSwitch to the branch main.\n"],
  ["a tag that exists", () => git("tag", "v1.10.0"), "\nThe tag v1.10.0 already exists.\n"],
  ["an empty section", empty, '\nThe section "Unreleased" of CHANGELOG.md is empty.\n'],
])("refuses %s, and changes nothing", (_what, prepare, message) => {
  prepare();
  const state = () => git("status", "--porcelain") + git("for-each-ref") + read("package.json");
  const before = state();
  const { status, stdout, stderr } = npmVersion("1.10.0");
  expect({ status, output: stdout + stderr }).toEqual({
    status: 1,
    output: expect.stringContaining(message),
  });
  expect(state()).toBe(before);
});
