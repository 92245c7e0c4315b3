import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { program } from "../../../cli/release.ts";
import { eventually } from "../../support/eventually.ts";
import { runNode } from "../../support/keys-cli.ts";
import { runInProcess } from "../../support/run-in-process.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const section = "### Added\n\n- Animals have a colour.\n\n### Fixed\n\n- A fault.";
const old = "## 1.9.0 - 2026-11-21\n\n- The first entry.\n";

let folder: string;
const repository = fs.mkdtempSync(join(tmpdir(), "animal-store-repository-"));
const env = {
  ...process.env,
  // Neither the configuration of this machine nor its npm cache.
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  npm_config_cache: ".git/npm",
  npm_config_update_notifier: "false",
  NODE_DISABLE_COMPILE_CACHE: "1", // npm would leave it in the folder of temporary files
};

const git = (...args: string[]) => execFileSync("git", args, { env, encoding: "utf8" }).trim();
const script = join(root, "cli/release.ts");
const run = (own = {}) => runNode([script, "1.10.0"], { cwd: folder, env: { ...env, ...own } });
const refusal = (version: string) => runInProcess(program, "release", [version]);
const read = (file: string) => fs.readFileSync(file, "utf8");
const commit = () => git("commit", "--quiet", "--all", "--message", "Change");
const today = () => new Date().toISOString().slice(0, 10);

/** Makes a repository with this checkout's document, at version 1.9.0. */
beforeAll(() => {
  process.chdir(repository);
  for (const source of ["package.json", "package-lock.json", "openapi.json", "openapi", "lib"])
    fs.cpSync(join(root, source), source, { recursive: true });
  for (const file of ["package.json", "package-lock.json"])
    fs.writeFileSync(file, read(file).replace(/"version": "[^"]+"/, '"version": "1.9.0"'));
  fs.writeFileSync("CHANGELOG.md", `# Changelog\n\n## Unreleased\n\n${section}\n\n${old}`);
  fs.writeFileSync(".gitignore", "node_modules\n");
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Tester");
  git("config", "user.email", "tester@example.com");
  git("add", "--all");
  commit();
  fs.symlinkSync(join(root, "node_modules"), "node_modules");
});
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "animal-store-release-"));
  fs.cpSync(repository, folder, { recursive: true });
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(root);
  fs.rmSync(folder, { recursive: true });
});
afterAll(() => fs.rmSync(repository, { recursive: true }));

/** Adds a program that stands in for npm, which takes longer than all other steps. @returns the environment */
function replaceNpm(script: string) {
  fs.mkdirSync(".git/bin");
  fs.writeFileSync(".git/bin/npm", `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: `${join(folder, ".git/bin")}:${process.env.PATH}` };
}

it("dates the section, sets the version everywhere, commits and tags, and pushes nothing", async () => {
  const days = [today()];
  expect(await run()).toEqual({
    code: 0,
    stdout: "Committed and tagged v1.10.0. To publish it: git push --atomic origin main v1.10.0\n",
    stderr: "",
  });
  days.push(today());
  const changelogs = days.map((day) => `## Unreleased\n\n## 1.10.0 - ${day}\n\n${section}\n\n${old}`);
  expect(changelogs.map((one) => `# Changelog\n\n${one}`)).toContain(read("CHANGELOG.md"));
  const [manifest, lock, document] = ["package.json", "package-lock.json", "openapi.json"].map((file) =>
    JSON.parse(read(file)),
  );
  for (const { version } of [manifest, lock, lock.packages[""], document.info])
    expect(version).toBe("1.10.0");
  expect(git("log", "-1", "--format=%s", "--name-only")).toBe(
    "Release 1.10.0\n\nCHANGELOG.md\nopenapi.json\npackage-lock.json\npackage.json",
  );
  expect(git("status", "--porcelain")).toBe("");
  expect(git("tag", "--list", "--format=%(objecttype) %(contents)", "v1.10.0")).toBe(`tag ${section}`);
  expect(git("rev-parse", "v1.10.0^{commit}")).toBe(git("rev-parse", "main"));
});

const state = () => git("status", "--porcelain") + git("for-each-ref") + read("CHANGELOG.md");

const empty = () => {
  fs.writeFileSync("CHANGELOG.md", `# Changelog\n\n## Unreleased\n\n### Added\n\n${old}`);
  commit();
};

it.each<[string, () => unknown, string, string]>([
  ["a new file", () => fs.writeFileSync("new.txt", ""), "1.10.0", "Commit or remove your changes first."],
  ["another branch", () => git("checkout", "--quiet", "-b", "x"), "1.10.0", "Switch to the branch main."],
  ["the same version", () => {}, "1.9.0", "The version must be higher than 1.9.0."],
  ["an empty section", empty, "1.10.0", 'The section "Unreleased" of CHANGELOG.md is empty.'],
  ["a tag that exists", () => git("tag", "v1.10.0"), "1.10.0", "The tag v1.10.0 already exists."],
])("refuses %s, and changes nothing", async (_what, prepare, version, message) => {
  prepare();
  const before = state();
  expect(await refusal(version)).toEqual({ code: 1, stdout: "", stderr: `release: ${message}\n` });
  expect(state()).toBe(before);
});

it("refuses a text that is no version", async () => {
  const stderr = expect.stringContaining("It must have the form 1.2.3.");
  for (const text of ["v1.10.0", "1.10", "01.10.0", `${2 ** 53}.0.0`])
    expect(await refusal(text)).toMatchObject({ code: 2, stderr });
});

it("undoes everything if its last step fails", async () => {
  const hook = "#!/bin/sh\n! grep -q refs/tags/\n";
  fs.writeFileSync(".git/hooks/reference-transaction", hook, { mode: 0o755 });
  const before = state();
  const stderr = expect.stringContaining("release: Command failed: git tag ");
  expect(await run(replaceNpm("exit 0"))).toMatchObject({ code: 1, stderr });
  expect(state()).toBe(before);
});

it.each<[how: string, signal: "SIGINT" | "SIGTERM", group: 1 | -1]>([
  ["Ctrl-C, which also ends npm", "SIGINT", -1], // a terminal signals all processes of the group
  ["`kill`", "SIGTERM", 1],
])("undoes everything after %s", async (_how, signal, group) => {
  const own = { ...env, ...replaceNpm("touch .git/begun; sleep 0.5") };
  const before = state();
  const child = spawn(process.execPath, [script, "1.10.0"], { env: own, detached: true });
  const message = text(child.stderr);
  await eventually(
    () => fs.existsSync(".git/begun"),
    (begun) => expect(begun).toBe(true),
  );
  process.kill(group * Number(child.pid), signal);
  const [code] = await once(child, "close");
  expect([code, await message]).toEqual([1, "release: Interrupted.\n"]);
  expect(state()).toBe(before);
});
