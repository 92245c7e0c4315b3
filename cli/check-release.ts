import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** The npm script `preversion`: `npm version` runs it before it changes a file, and stops if it fails. */

const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8" }).trim();

const tag = `v${process.env.npm_new_version}`;
const [, after = ""] = readFileSync("CHANGELOG.md", "utf8").split(/^## Unreleased$/m);
const [unreleased = ""] = after.split(/^## /m);

const problems = [
  git("branch", "--show-current") !== "main" && "Switch to the branch main.",
  // npm itself ignores untracked files.
  git("status", "--porcelain") && "Commit or remove your changes first.",
  git("tag", "--list", tag) && `The tag ${tag} already exists.`,
  !/^- /m.test(unreleased) && 'The section "Unreleased" of CHANGELOG.md is empty.',
].filter(Boolean);

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
